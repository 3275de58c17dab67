import { backoffMs, sleep } from '../async/sleep.js';
import type { DatabaseService } from '../databases/index.js';
import { CosiftError, isCode } from '../errors.js';
import type { SyncDescription } from '../schema/index.js';
import type { ConfiguredSync } from './configured-syncs.js';
import { creatableOf, ensureDatabase } from './ensure-database.js';
import { openSync } from './open-sync.js';
import { openTableSource } from './sources/table-source.js';
import {
  FIRST_PAUSE_MS,
  failureOf,
  MAX_PAUSE_MS,
  NO_STATE,
  type Sync,
  type SyncStatus,
  storedStatus,
} from './sync.js';
import { describeSync, onChange } from './sync-description.js';
import type { SyncCounts, SyncProgress } from './sync-progress.js';

export interface SyncLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

type Databases = Pick<DatabaseService, 'aliases' | 'catalog' | 'writer'>;

/** The sources of a config file, which a service follows until it is closed. */
export class FollowedSyncs {
  readonly #end = new AbortController();
  readonly #syncs: readonly FollowedSync[];

  constructor(databases: Databases, configured: readonly ConfiguredSync[]) {
    this.#syncs = configured.map((one) => new FollowedSync(databases, one, this.#end.signal));
  }

  get all(): readonly FollowedSync[] {
    return this.#syncs;
  }

  /** Each change of the state of a source is a line of the log. */
  start(log: SyncLog): void {
    // It ends by the close, which nobody need be told.
    for (const sync of this.#syncs) sync.start(log).catch(() => undefined);
  }

  /** Ends the running passes, which the next start makes again. */
  async close(): Promise<void> {
    this.#end.abort(new CosiftError('stopped', 'the service stops'));
    await Promise.all(this.#syncs.map((sync) => sync.close()));
  }
}

/** What the passes of a source have done since the start. */
export type SyncTotals = Record<'passes' | 'failures' | 'read' | 'written' | 'unchanged' | 'deleted', number>;

/** A pass that somebody asked for. */
export type SyncRequest = 'reconcile' | 'confirm';

/** A source that a service follows. */
export class FollowedSync {
  readonly totals: SyncTotals = { passes: 0, failures: 0, read: 0, written: 0, unchanged: 0, deleted: 0 };
  /** The last moment of the source that the records showed as a whole. */
  lastInStep: string | undefined;
  /** Rows of the running pass that are not stored yet, where the source tells their number. */
  waiting = 0;
  readonly #databases: Databases;
  readonly #configured: ConfiguredSync;
  readonly #signal: AbortSignal;
  /** The passes that were asked for, with the number of records that they may delete. */
  readonly #requested = new Map<SyncRequest, number | undefined>();
  #id: string;
  #sync: Sync | undefined;
  #failure: { state: 'waiting' | 'failed'; reason: string; nextAttempt: Date } | undefined;
  /** As it was after the last attempt. */
  #last: SyncDescription | undefined;

  constructor(databases: Databases, configured: ConfiguredSync, signal: AbortSignal) {
    this.#databases = databases;
    this.#configured = configured;
    this.#signal = signal;
    this.#id = configured.database;
  }

  get name(): string {
    return this.#configured.name;
  }

  /** The id of the database. Until the source is followed, it may be the name of an alias. */
  get database(): string {
    return this.#id;
  }

  /** As it was after the last attempt; undefined before the first. */
  get last(): SyncDescription | undefined {
    return this.#last;
  }

  async describe(): Promise<SyncDescription> {
    const status = await this.#status();
    const requested = [...this.#requested.keys()];
    return { ...describeSync(this.name, this.#id, status), ...(requested.length > 0 && { requested }) };
  }

  async #status(): Promise<SyncStatus> {
    try {
      if (this.#sync !== undefined) return await this.#sync.status();
    } catch (error) {
      // The database is being loaded.
      if (!isCode(error, 'not_ready')) throw error;
    }
    return { ...storedStatus(NO_STATE), ...this.#failure };
  }

  /**
   * Lets the next pass compare all rows, and with `confirm` delete up to `max` of the records that were withheld.
   *
   * @throws {CosiftError} `source_unavailable` while the source cannot be followed; `busy` while another number of records is being
   * confirmed.
   */
  request(kind: SyncRequest, max?: number): void {
    const sync = this.#sync;
    if (sync === undefined) {
      const reason = this.#failure === undefined ? '' : `: ${this.#failure.reason}`;
      throw new CosiftError('source_unavailable', `the source "${this.name}" is not followed yet${reason}`);
    }
    if (this.#requested.has(kind)) {
      if (this.#requested.get(kind) === max) return;
      throw new CosiftError(
        'busy',
        `another confirmation of the source "${this.name}" is not complete yet; try again`,
        {
          fields: { retry_after: 1 },
        },
      );
    }
    this.#requested.set(kind, max);
    const pass = kind === 'reconcile' ? sync.reconcile() : sync.confirm(max);
    // The description has the failure.
    pass.catch(() => undefined).finally(() => this.#requested.delete(kind));
  }

  async start(log: SyncLog): Promise<void> {
    const { database, source, embed, name, everyMs, maxDeletes } = this.#configured;
    const report = onChange(
      async () => {
        this.#last = await this.describe();
        this.lastInStep = this.#last.in_step_as_of ?? this.lastInStep;
        return this.#last;
      },
      ['state', 'reason', 'refused', 'withheld', 'by_scan'],
      ({ state, reason, by_scan, records, refused, withheld }) => {
        const reasons = { ...(reason && { reason }), ...(by_scan && { by_scan }) };
        const facts = { sync: name, database, state, ...reasons, records, refused, withheld };
        if (state === 'in_step' && by_scan === undefined) log.info(facts, 'sync');
        else log.warn(facts, 'sync');
      },
    );
    const onAttempt = (counts: SyncCounts | undefined) => {
      this.waiting = 0;
      this.#count(counts);
      report().catch(() => undefined);
    };
    const open = async () => {
      await ensureDatabase(creatableOf(this.#databases), database, embed && { columns: [...embed] });
      return await openTableSource(source);
    };
    const onProgress = ({ rows, total = rows }: SyncProgress) => {
      this.waiting = Math.max(0, total - rows);
    };
    const settings = { name, maxDeletes, everyMs, signal: this.#signal, onAttempt, onProgress };
    for (let failures = 0; ; failures += 1) {
      try {
        this.#id = await this.#databases.aliases.resolve(database);
        this.#sync = await openSync(this.#databases, this.#id, open, settings);
        return;
      } catch (error) {
        this.#signal.throwIfAborted();
        const pause = backoffMs(failures, FIRST_PAUSE_MS, MAX_PAUSE_MS);
        this.#failure = { ...failureOf(error), nextAttempt: new Date(Date.now() + pause) };
        onAttempt(undefined);
        await sleep(pause, this.#signal);
      }
    }
  }

  async close(): Promise<void> {
    await this.#sync?.close();
  }

  #count(counts: SyncCounts | undefined): void {
    if (counts === undefined) {
      this.totals.failures += 1;
      return;
    }
    this.totals.passes += 1;
    for (const what of ['read', 'written', 'unchanged', 'deleted'] as const)
      this.totals[what] += counts[what];
  }
}
