import { setInterval } from 'node:timers';
import type { Stoppable } from '../../async/stoppable.js';
import { isCode } from '../../errors.js';
import type { Alias, Limits } from '../../schema/index.js';
import type { StoredDatabase, StoreExportRequest, StorePages, StoreSearch } from '../record-store.js';
import type { DatabaseProgress } from '../store-state.js';
import { type LocalOptions, LocalStore, openEngine } from './local-store.js';

/** Milliseconds after which readers who wait for changes look for them again. */
const LOOK_MS = 100;

/**
 * The databases of a directory that another process may write. Each call that reads sees every commit that was acknowledged
 * before it. The engine refuses to write.
 */
export class FollowingStore extends LocalStore {
  #timer: NodeJS.Timeout | undefined;

  /** Opens a data directory, whose lock another process may hold. */
  static override open(directory: string, limits: Limits, options: LocalOptions = {}): FollowingStore {
    return new FollowingStore(openEngine(directory, limits, options, true), directory);
  }

  override load(): Promise<void> {
    return this.loadFiles();
  }

  override async listDatabases(): Promise<StoredDatabase[]> {
    await this.refresh();
    return await super.listDatabases();
  }

  override async aliases(): Promise<Alias[]> {
    await this.loadAliases();
    return await super.aliases();
  }

  override async databaseOfAlias(name: string): Promise<string | undefined> {
    await this.loadAliases();
    return await super.databaseOfAlias(name);
  }

  override searches(
    id: string,
    searches: readonly StoreSearch[],
    stoppable?: Stoppable,
  ): Promise<StorePages> {
    return this.onNewest(id, () => super.searches(id, searches, stoppable));
  }

  override watch(onWritten: (id: string | undefined) => void): void {
    this.#timer = setInterval(() => onWritten(undefined), LOOK_MS).unref();
  }

  override async *exportLines(
    id: string,
    request: StoreExportRequest,
    signal?: AbortSignal,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    await this.refresh(id);
    yield* super.exportLines(id, request, signal);
  }

  override async progress(): Promise<DatabaseProgress[]> {
    await this.refresh();
    return await super.progress();
  }

  override async close(): Promise<void> {
    clearInterval(this.#timer);
    await super.close();
  }

  /** Runs `read` again if the database was replaced in between. */
  protected override async onNewest<T>(id: string, read: () => Promise<T>): Promise<T> {
    await this.refresh(id);
    try {
      return await read();
    } catch (error) {
      if (!isCode(error, 'database_not_found')) throw error;
      await this.refresh(id);
      return await read();
    }
  }
}
