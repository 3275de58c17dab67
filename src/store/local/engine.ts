import type { Limits } from '../../schema/limits.js';
import {
  type NativeCommitted,
  type NativeEngine,
  type NativeMeter,
  type NativePage,
  native,
  type Prepared,
  type ReembeddingBatch,
} from './binding.js';
import { settle } from './outcome.js';
import { stoppable, stoppableUntilDone } from './stop.js';

/** Settings of a database as the engine keeps them. */
export interface EngineSettings {
  embed?: { columns?: string[] };
  model: string | null;
  fingerprint: string | null;
  dimensions: number;
  approximate?: boolean;
}

/** The databases of a data directory, in memory. Failures are `CosiftError`s. */
export class Engine {
  readonly #native: NativeEngine;

  private constructor(engine: NativeEngine) {
    this.#native = engine;
  }

  /**
   * Opens a data directory and takes its lock; `threads` scan, one a core when absent.
   *
   * @throws {CosiftError} `data_locked` when another process has it open.
   */
  static open(directory: string, limits: Limits, threads?: number): Engine {
    const options = {
      threads,
      limits: {
        filterDepth: limits.filter_depth,
        filterRules: limits.filter_rules,
        filterValueBytes: limits.filter_value_bytes,
        batchRecords: limits.batch_records,
        recordBytes: limits.record_bytes,
        pageBytes: limits.page_bytes,
        databaseColumns: limits.database_columns,
        changeRetentionDays: limits.change_retention_days,
      },
    };
    return new Engine(settle(native.openEngine(directory, options)));
  }

  /** Brings every database to memory; `progress` tells of those that cannot be. */
  async load(): Promise<void> {
    settle(await this.#native.load());
  }

  progress(): { databases: DatabaseProgress[] } {
    return JSON.parse(this.#native.progress());
  }

  async createDatabase(
    id: string,
    settings: EngineSettings,
  ): Promise<{ created: boolean; database: EngineDescription }> {
    return parse(settle(await this.#native.createDatabase(id, JSON.stringify(settings))));
  }

  async listDatabases(): Promise<EngineDescription[]> {
    return parse(settle(await this.#native.listDatabases()));
  }

  async describeDatabase(id: string): Promise<EngineDescription> {
    return parse(settle(await this.#native.describeDatabase(id)));
  }

  async dropDatabase(id: string): Promise<void> {
    settle(await this.#native.dropDatabase(id));
  }

  /** Checks a JSON batch; `vectors` are those of records that come without, one after the other. */
  async prepareBatch(
    id: string,
    body: Uint8Array,
    vectors: Float32Array = new Float32Array(),
  ): Promise<Prepared> {
    return settle(await this.#native.prepareBatch(id, body, vectors));
  }

  /** Checks lines of JSON, of which the first has number `firstLine`. */
  async prepareLines(id: string, body: Uint8Array, firstLine: number): Promise<Prepared> {
    return settle(await this.#native.prepareLines(id, body, firstLine));
  }

  /**
   * Writes prepared records with the vectors of their texts; durable and searchable when it resolves.
   *
   * Fails as stale, and stores nothing, when another model made the vectors than the database has, or other texts are
   * needed by now.
   */
  async commit(id: string, prepared: Prepared, { vectors, fingerprint }: Embedded): Promise<NativeCommitted> {
    return settle(await this.#native.commit(id, prepared, vectors, fingerprint));
  }

  async record(id: string, record: string, request: object): Promise<Uint8Array> {
    return settle(await this.#native.record(id, record, JSON.stringify(request)));
  }

  /** Deletes nothing once the signal is aborted before the commit. */
  async deleteRecords(id: string, request: object, signal?: AbortSignal): Promise<number> {
    const text = JSON.stringify(request);
    return settle(await stoppableUntilDone(signal, (stop) => this.#native.deleteRecords(id, text, stop)));
  }

  async search(id: string, request: object, vector: Float64Array, signal?: AbortSignal): Promise<NativePage> {
    const text = JSON.stringify(request);
    return settle(await stoppable(signal, (stop) => this.#native.search(id, text, vector, stop)));
  }

  async query(id: string, request: object, signal?: AbortSignal): Promise<NativePage> {
    const text = JSON.stringify(request);
    return settle(await stoppable(signal, (stop) => this.#native.query(id, text, stop)));
  }

  async changes(id: string, request: object, signal?: AbortSignal): Promise<Uint8Array> {
    const text = JSON.stringify(request);
    return settle(await stoppable(signal, (stop) => this.#native.changes(id, text, stop)));
  }

  /** Begins to embed a database with another model, or goes on where that was left. */
  async beginReembedding(
    id: string,
    settings: { model: string; fingerprint: string; dimensions: number },
  ): Promise<EngineReembedding> {
    return parse(settle(await this.#native.beginReembedding(id, JSON.stringify(settings))));
  }

  /** How far that has come; null when there is none. */
  async reembedding(id: string): Promise<EngineReembedding | null> {
    return parse(settle(await this.#native.reembedding(id)));
  }

  /** What is to be embedded next. */
  async prepareReembedding(id: string): Promise<ReembeddingBatch> {
    return settle(await this.#native.prepareReembedding(id));
  }

  /** Stores the vectors of a batch; resolves with how many records have theirs. */
  async commitReembedding(
    id: string,
    batch: ReembeddingBatch,
    vectors: Float32Array,
    fingerprint: string,
  ): Promise<number> {
    return settle(await this.#native.commitReembedding(id, batch, vectors, fingerprint));
  }

  /** Makes ready what is embedded so far, so that the switch is quick. */
  async warmReembedding(id: string): Promise<void> {
    settle(await this.#native.warmReembedding(id));
  }

  /** Puts what is embedded in the database's place; nothing may be written since the last batch. */
  async switchReembedding(id: string): Promise<void> {
    settle(await this.#native.switchReembedding(id));
  }

  /** @throws {CosiftError} `reembedding_not_found` */
  async cancelReembedding(id: string): Promise<void> {
    settle(await this.#native.cancelReembedding(id));
  }

  scanStats(): { waiting: number; passes: number; answered: number } {
    return this.#native.scanStats();
  }

  meter(): NativeMeter {
    return this.#native.meter();
  }

  /** Removes and returns the events since the last call, also after `close`. */
  takeEvents(): EngineEvents {
    return JSON.parse(this.#native.takeEvents());
  }

  /** Answers what was taken, saves, and gives the directory free. */
  async close(): Promise<void> {
    settle(await this.#native.close());
  }
}

/** What the engine reports to the log. */
export interface EngineEvents {
  /** Oldest first. */
  events: EngineEvent[];
  /** Events lost since the last call because the queue was full. */
  dropped: number;
}

export interface EngineEvent {
  /** Milliseconds since 1970. */
  at: number;
  level: 'info' | 'warn' | 'error';
  code: string;
  /** Absent when no database is concerned. */
  database?: string;
  /** The cause. */
  text: string;
}

/** Vectors of texts, one after the other, and the model that made them. */
export interface Embedded {
  vectors: Float32Array;
  /** The model's fingerprint; undefined where nothing was embedded. */
  fingerprint?: string | undefined;
}

/** How far a database has come, and its size. */
export interface DatabaseProgress {
  id: string;
  loaded: boolean;
  /** False while it is not loaded, and when it refuses writes until it is opened again. */
  writable: boolean;
  records: number;
  memory_bytes: number;
  disk_bytes: number;
  /** Why it could not be opened. */
  problem?: { code: string; detail: string };
}

/** How far the embedding of a database with another model has come. */
export interface EngineReembedding {
  model: string;
  fingerprint: string;
  done: number;
  started_at: string;
}

/** A database as the engine describes it. */
export interface EngineDescription {
  id: string;
  records: number;
  model: string | null;
  fingerprint: string | null;
  dimensions: number;
  approximate: boolean;
  approximate_records?: number;
  embed: { columns?: string[] };
  columns: { name: string; types: ('string' | 'number' | 'boolean' | 'null')[]; records: number }[];
  sizes: {
    memory_bytes: number;
    codes_bytes: number;
    columns_bytes: number;
    identities_bytes: number;
    approximate_bytes: number;
    disk_bytes: number;
  };
  times: { created_at: string; last_write_at: string };
}

function parse<T>(json: Uint8Array): T {
  return JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString('utf8'));
}
