import { LinkedAbort } from '../async/linked-abort.js';
import { sleep } from '../async/sleep.js';
import type { Embedder } from '../embedding/index.js';
import { CosiftError, isCode } from '../errors.js';
import type { Reembedding } from '../schema/index.js';
import type { ReembeddingSettings } from '../store/reembedding-store.js';
import { StaleError } from '../store/store-errors.js';
import type { Dependencies } from './dependencies.js';

/** The caller id under which re-embeddings take turns with the keys. No key has this id. */
const CALLER = 'reembedding';

/** Milliseconds until the next try when the store is busy. */
const BUSY_MS = 500;

/** Texts that are embedded beyond twice those of all records before writers are slowed. */
const SPARE_TEXTS = 2_000;
/** How often the time of writers is halved. */
const MAX_SLOWED = 4;
/** Milliseconds that slowed writers wait at a time, however long a text takes. */
const HELD_MS = 1_000;
/** Milliseconds that writers have in between at least: those of other processes look every 50 ms. */
const MIN_GAP_MS = 150;

/** The initial state of a job. */
export interface ReembeddingFacts extends Pick<ReembeddingSettings, 'embed' | 'model'> {
  /** The model of the current vectors; null when callers provided them. */
  from: string | null;
  /** Records that have their new vector already. */
  done: number;
  /** ISO 8601. */
  startedAt: string;
}

/** Embeds one database with another model, or other columns, in the background. */
export class ReembeddingJob {
  readonly model: string;
  readonly embed: ReembeddingSettings['embed'];
  readonly #from: string | null;
  readonly #id: string;
  readonly #dependencies: Dependencies;
  readonly #stopped = new AbortController();
  #state: Reembedding['state'] = 'running';
  #done: number;
  #startedAt: string;
  #problem: Reembedding['problem'];
  #ended: Promise<void> = Promise.resolve();

  constructor(
    id: string,
    { model, embed, from, done, startedAt }: ReembeddingFacts,
    dependencies: Dependencies,
  ) {
    this.#id = id;
    this.model = model;
    this.embed = embed;
    this.#from = from;
    this.#done = done;
    this.#startedAt = startedAt;
    this.#dependencies = dependencies;
  }

  get state(): Reembedding['state'] {
    return this.#state;
  }

  /** Describes the job for a database that has `records` records now. */
  describe(records: number): Reembedding {
    // Records with a new vector may have been deleted since.
    const done = this.#state === 'done' ? records : Math.min(this.#done, records);
    return {
      model: this.model,
      embed: this.embed as Reembedding['embed'],
      from: this.#from,
      state: this.#state,
      done,
      records,
      started_at: this.#startedAt,
      ...(this.#problem && { problem: this.#problem }),
    };
  }

  /** Marks the job as done: the database has the model already. */
  markDone(): void {
    this.#state = 'done';
  }

  /** Marks the job as waiting, because the service does not have its model. */
  markWaiting(): void {
    this.#state = 'waiting';
    this.#problem = { code: 'model_mismatch', detail: `this service does not have model "${this.model}"` };
  }

  /** Marks a job that was stopped for a drop of its database as failed, unless it had ended before. */
  markStopped(error: unknown): void {
    if (this.#state !== 'running' && this.#state !== 'switching') return;
    this.#state = 'failed';
    const detail = `it was stopped, because database "${this.#id}" was being dropped, but the drop failed`;
    this.#problem = { code: codeOf(error), detail };
  }

  /** Begins the re-embedding and continues it in the background. Rejects when the store cannot begin it. */
  async start(embedder: Embedder): Promise<void> {
    const begun = this.#begin(embedder);
    this.#ended = begun.then(() => this.#run(embedder)).catch((error) => this.#fail(error));
    await begun;
  }

  /** Continues in the background, once `load` has loaded the model. */
  resume(load: () => Promise<Embedder>): void {
    const run = async () => {
      const embedder = await load();
      await this.#begin(embedder);
      await this.#run(embedder);
    };
    this.#ended = run().catch((error) => this.#fail(error));
  }

  /** Resolves, and never rejects, once the job has ended. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /** Asks the job to end at its next step. */
  abort(): void {
    this.#stopped.abort();
  }

  /** Ends the job; resolves once it has ended. The vectors that it has stored stay. */
  async stop(): Promise<void> {
    this.abort();
    await this.#ended;
  }

  async #begin({ fingerprint, dimensions }: Embedder): Promise<void> {
    const settings = { embed: this.embed, model: this.model, fingerprint, dimensions };
    const begun = await this.#dependencies.store.reembedder.begin(this.#id, settings);
    this.#done = begun.done;
    this.#startedAt = begun.startedAt;
  }

  async #run(embedder: Embedder): Promise<void> {
    const { store, infos } = this.#dependencies;
    const { records } = await store.describeDatabase(this.#id);
    await this.#catchUp(embedder, records);
    // Most of the work of the switch is done while writes continue.
    await store.reembedder.warm(this.#id);
    for (;;) {
      await this.#catchUp(embedder, 0);
      const release = await this.#holdWriters();
      try {
        this.#state = 'switching';
        while (!(await this.#embedBatch(embedder)).isLast);
        await store.reembedder.switch(this.#id);
        await infos.refresh(this.#id);
        this.#state = 'done';
        return;
      } catch (error) {
        // A write of another process that was not held.
        if (!(error instanceof StaleError)) throw error;
        await this.#begin(embedder);
      } finally {
        await release();
      }
      this.#state = 'running';
    }
  }

  /**
   * Embeds the records that have no new vector yet, of which there are about `records`.
   *
   * Writers that are faster than the embedding would keep it from ending. So writers are slowed as soon as twice the
   * texts were embedded, and each time that this was not enough, they get half the time. When even the shortest time is
   * too much, records remain: the switch keeps writers waiting until these are embedded.
   */
  async #catchUp(embedder: Embedder, records: number): Promise<void> {
    const expected = 2 * records + SPARE_TEXTS;
    const pace = { slowed: 0 };
    let slowing: Promise<void> | undefined;
    using caughtUp = new LinkedAbort(this.#stopped.signal);
    try {
      for (let embedded = 0; ; ) {
        pace.slowed = Math.floor(embedded / expected);
        if (pace.slowed > MAX_SLOWED) return;
        if (pace.slowed > 0) slowing ??= this.#slowWriters(pace, caughtUp.signal);
        const { isLast, texts } = await this.#embedBatch(embedder);
        if (isLast) return;
        // Records without text take time, too.
        embedded += Math.max(texts, 1);
      }
    } finally {
      caughtUp.abort();
      await slowing;
    }
  }

  /**
   * Lets writers wait and write in turns until `signal` is aborted, also while a batch is embedded. Each step of
   * `slowed` halves the time in which they write. It never rejects: writers are not slowed while the store cannot hold
   * them.
   */
  async #slowWriters(pace: { slowed: number }, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const release = await this.#holdWriters().catch(() => undefined);
      await sleep(HELD_MS, signal).catch(() => undefined);
      await release?.();
      await sleep(Math.max(HELD_MS / 2 ** pace.slowed, MIN_GAP_MS), signal).catch(() => undefined);
    }
  }

  /** Embeds the next records that have no new vector. */
  async #embedBatch(embedder: Embedder): Promise<{ isLast: boolean; texts: number }> {
    const { store } = this.#dependencies;
    const { signal } = this.#stopped;
    signal.throwIfAborted();
    const batch = await retryWhileBusy(() => store.reembedder.prepare(this.#id), signal);
    const split = { lines: (text: number) => batch.lines(text), passages: batch.passages() };
    const options = { signal, caller: CALLER, waitForRoom: true, split };
    const texts = batch.texts();
    const embedded = await embedder.embedPassages(texts, options);
    const { fingerprint } = embedder;
    const commit = () => store.reembedder.commit(this.#id, batch, { ...embedded, fingerprint });
    this.#done = await retryWhileBusy(commit, signal);
    return { isLast: batch.isLast, texts: texts.length };
  }

  /** Keeps the writers of all processes waiting until the returned function is called. */
  async #holdWriters(): Promise<() => Promise<void>> {
    const { store, barriers } = this.#dependencies;
    const open = await barriers.of(this.#id).close();
    try {
      const release = await store.reembedder.holdWriters(this.#id);
      return async () => {
        // The writers of this process need not wait for the store, which knows whose hold it is.
        open();
        await release();
      };
    } catch (error) {
      open();
      throw error;
    }
  }

  async #fail(error: unknown): Promise<void> {
    if (this.#stopped.signal.aborted) return;
    this.#state = 'failed';
    const code = codeOf(error);
    this.#problem = { code, detail: error instanceof Error ? error.message : String(error) };
    // The unfinished vectors would keep the disk full.
    if (code === 'disk_full') {
      await this.#dependencies.store.reembedder.cancel(this.#id).catch(() => undefined);
    }
  }
}

function codeOf(error: unknown): string {
  return error instanceof CosiftError ? error.code : 'internal';
}

/** Repeats a call while the store is busy. There is no time limit, because no caller waits for the call. */
async function retryWhileBusy<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isCode(error, 'busy')) throw error;
      await sleep(BUSY_MS, signal);
    }
  }
}
