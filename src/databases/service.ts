import { setTimeout } from 'node:timers/promises';
import { CallTracker } from '../async/call-tracker.js';
import type { Limits } from '../schema/index.js';
import type { RecordStore } from '../store/record-store.js';
import { Aliases } from './aliases.js';
import { Backups } from './backups.js';
import { CallerTurns } from './caller-turns.js';
import { DatabaseCatalog } from './catalog.js';
import { ChangeFeed } from './change-feed.js';
import { DatabaseEmbedder } from './database-embedder.js';
import { DatabaseInfoCache } from './database-info-cache.js';
import type { Dependencies } from './dependencies.js';
import { Doctor } from './doctor/doctor.js';
import { Exports } from './exports.js';
import type { Models } from './models.js';
import { Monitor } from './monitor.js';
import { RecordReader } from './record-reader.js';
import { RecordWriter } from './record-writer.js';
import { Reembeddings } from './reembeddings.js';
import { TextEmbedder } from './text-embedder.js';
import { WriteBarriers } from './write-barrier.js';

/** Milliseconds between two looks at databases that were not open at the start. */
const RESUME_MS = 1_000;

export interface ServiceOptions {
  limits: Limits;
  /** Whether interrupted re-embeddings continue by themselves. */
  resume: boolean;
}

export interface Readiness {
  /** Whether requests are served. A database that could not be opened does not block the others. */
  readonly ready: boolean;
  /** Why requests are not served. */
  readonly reasons: readonly string[];
}

/**
 * Embeds texts with its models and keeps the records in a store. Its parts answer the requests of the HTTP service, the
 * library and the command line. Every failure is a `CosiftError`.
 */
export class DatabaseService {
  readonly catalog: DatabaseCatalog;
  readonly aliases: Aliases;
  readonly reader: RecordReader;
  readonly writer: RecordWriter;
  readonly texts: TextEmbedder;
  readonly feed: ChangeFeed;
  readonly exports: Exports;
  readonly reembeddings: Reembeddings;
  readonly monitor: Monitor;
  readonly backups: Backups;
  readonly doctor: Doctor;
  /** The events of the store. They can be taken after `close`, too, because closing adds events. */
  readonly events: Pick<RecordStore, 'takeEvents'>;
  readonly #dependencies: Dependencies;
  /** Resolves once every database is ready for requests or is known to have failed; rejects when the start fails. */
  readonly ready: Promise<void>;
  /** Why requests are not served yet. */
  #starting: string | undefined = 'databases are being loaded';
  #closed: Promise<void> | undefined;

  /** Takes over `store` and `models`, begins to load the databases, and closes both in `close`. */
  constructor(store: RecordStore, models: Models, { limits, resume }: ServiceOptions) {
    const infos = new DatabaseInfoCache(store);
    const dependencies = {
      store,
      models,
      limits,
      infos,
      embedder: new DatabaseEmbedder(infos, models),
      barriers: new WriteBarriers(),
      turns: new CallerTurns(store),
      calls: new CallTracker('the store'),
    };
    this.#dependencies = dependencies;
    this.feed = new ChangeFeed(dependencies);
    this.reader = new RecordReader(dependencies);
    this.writer = new RecordWriter(dependencies, this.feed);
    this.texts = new TextEmbedder(dependencies);
    this.exports = new Exports(dependencies);
    this.reembeddings = new Reembeddings(dependencies);
    this.catalog = new DatabaseCatalog(dependencies, this.reembeddings, this.feed);
    this.aliases = new Aliases(dependencies);
    this.monitor = new Monitor(dependencies, this.reembeddings);
    this.backups = new Backups(dependencies);
    this.doctor = new Doctor(dependencies);
    this.events = store;
    this.ready = this.#start(resume);
    // Callers that need the databases await `ready`; a failure before that must not count as unhandled.
    this.ready.catch(() => undefined);
  }

  async #start(resume: boolean): Promise<void> {
    const { store, infos } = this.#dependencies;
    store.watch((id) => this.feed.notify(id));
    await store.load();
    for (const database of await store.listDatabases()) infos.set(database.id, database);
    if (resume) {
      const ids = infos.ids();
      for (const id of ids) await this.reembeddings.resume(id);
      this.reembeddings.watch();
      this.#resumeLater(new Set(ids)).catch(() => undefined);
    }
    this.#starting = undefined;
  }

  /** Continues the re-embeddings of databases that could not be opened at the start, as soon as they are. */
  async #resumeLater(resumed: Set<string>): Promise<void> {
    const { closing } = this.#dependencies.calls;
    for (let areAllOpen = false; !areAllOpen; ) {
      const databases = await this.monitor.states(closing);
      for (const { id } of databases.filter(({ id, loaded }) => loaded && !resumed.has(id))) {
        await this.reembeddings.resume(id);
        resumed.add(id);
      }
      areAllOpen = databases.every(({ loaded }) => loaded);
      if (!areAllOpen) await setTimeout(RESUME_MS, undefined, { signal: closing, ref: false });
    }
  }

  /** Returns whether requests are served. It must be cheap, because every request calls it. */
  readiness(): Readiness {
    const reasons = [
      ...(this.#starting === undefined ? [] : [this.#starting]),
      ...(this.#closed === undefined ? [] : ['the service is stopping']),
    ];
    return { ready: reasons.length === 0, reasons };
  }

  /** Refuses new calls, finishes those in progress, and releases what is open. Each call returns the same promise. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const { store, models, calls } = this.#dependencies;
    const results = await Promise.allSettled([calls.close(), this.reembeddings.close()]);
    // The store and the models close last, because the calls in progress need both.
    results.push(...(await Promise.allSettled([store.close()])));
    results.push(...(await Promise.allSettled([models.close()])));
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }
}
