import {
  type Backend,
  checkModelDirectories,
  LocalBackend,
  type ModelDirectories,
} from '../backend/index.js';
import { CosiftError } from '../errors.js';
import type { Reembedder } from '../reembed.js';
import {
  type BatchResult,
  checkDatabaseSettings,
  checkSearchRequest,
  type DatabaseSettings,
  type LineEvent,
  type PageB,
  type SearchRequest,
} from '../schema/index.js';
import type { Target } from './target.js';

/** A data directory of this machine, which no other process has open. */
export class LocalTarget implements Target {
  readonly #backend: Backend;

  private constructor(backend: Backend) {
    this.#backend = backend;
  }

  static async open(data: string, models?: ModelDirectories): Promise<LocalTarget> {
    checkModelDirectories(models);
    try {
      return new LocalTarget(await LocalBackend.open({ directory: data, models, resume: false }));
    } catch (error) {
      if (!(error instanceof CosiftError) || error.code !== 'data_locked') throw error;
      throw new CosiftError('data_locked', `${error.detail}; to work on a running server, give --url`, {
        cause: error,
      });
    }
  }

  async ensureDatabase(id: string, settings: DatabaseSettings): Promise<void> {
    if (Object.keys(settings).length === 0) {
      const databases = await this.#backend.listDatabases();
      if (databases.some((database) => database.id === id)) return;
    }
    await this.#backend.createDatabase(id, checkDatabaseSettings(settings));
  }

  async upsert(id: string, records: readonly object[]): Promise<BatchResult> {
    const body = await this.#backend.upsertBatch(id, Buffer.from(JSON.stringify({ records })));
    return JSON.parse(Buffer.from(body).toString('utf8')) as BatchResult;
  }

  upsertLines(id: string, chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncIterable<LineEvent> {
    return this.#backend.upsertLines(id, chunks, { signal });
  }

  async search(id: string, request: SearchRequest): Promise<PageB> {
    const { body } = await this.#backend.search(id, checkSearchRequest(request, 'b'), { variant: 'b' });
    return JSON.parse(Buffer.from(body).toString('utf8')) as PageB;
  }

  reembedder(id: string): Reembedder {
    return {
      start: (model) => this.#backend.startReembedding(id, model),
      read: () => this.#backend.reembedding(id),
      describe: () => this.#backend.describeDatabase(id),
      cancel: () => this.#backend.cancelReembedding(id),
    };
  }

  close(): Promise<void> {
    return this.#backend.close();
  }
}
