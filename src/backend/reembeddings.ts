import { setTimeout as pause } from 'node:timers/promises';
import type { Embedder } from '../embedding/index.js';
import { CosiftError, isCode } from '../errors.js';
import type { Reembedding } from '../schema/index.js';
import type { Engine } from '../store/local/index.js';
import type { Models } from './models.js';
import type { WriteGate } from './write-barrier.js';

/** What the records of a database are embedded with. */
export interface DatabaseModel {
  model: string | null;
  fingerprint: string | null;
}

/** What it takes to embed a database with another model. */
export interface Surroundings {
  engine: Engine;
  models: Models;
  /** @throws {CosiftError} `database_not_found`, `not_ready` */
  modelOf(id: string): DatabaseModel;
  gateOf(id: string): WriteGate;
  /** Called when a database has got its new model, before anything is written to it. */
  switched(id: string): Promise<void>;
}

interface Job {
  model: string;
  from: string | null;
  state: Reembedding['state'];
  done: number;
  startedAt: string;
  problem?: { code: string; detail: string };
  stop: AbortController;
  /** Settles, never fails, when nothing of it is under way any more. */
  ended: Promise<void>;
}

/** Whose texts these are where callers take turns: no key has this id. */
const REEMBEDDING = 'reembedding';

/** Milliseconds until another try, when the engine has too much to do. */
const BUSY_MS = 500;

/** Embeds databases with other models in the background, each with one at a time. */
export class Reembeddings {
  readonly #around: Surroundings;
  readonly #jobs = new Map<string, Job>();
  #closed = false;

  constructor(around: Surroundings) {
    this.#around = around;
  }

  /** How the one of a database stands; undefined when there is none. */
  state(id: string): Reembedding | undefined {
    const job = this.#jobs.get(id);
    if (job === undefined) return undefined;
    const { model, from, state, startedAt, problem } = job;
    const database = this.#around.engine.progress().databases.find((database) => database.id === id);
    const records = database?.records ?? 0;
    // The last of them may have been deleted since.
    const done = state === 'done' ? records : Math.min(job.done, records);
    return { model, from, state, done, records, started_at: startedAt, ...(problem && { problem }) };
  }

  /**
   * Begins one, or goes on with one that failed. The same again changes nothing.
   *
   * @throws {CosiftError} `invalid_request` for a model that is not there, `reembedding_running`.
   */
  async start(id: string, model: string): Promise<Reembedding> {
    this.#around.modelOf(id);
    const embedder = await this.#around.models.embedder(model);
    // Again, and without a pause from here on: another call may have begun one.
    const has = this.#around.modelOf(id);
    const there = this.#jobs.get(id);
    if (there?.state === 'running' || there?.state === 'switching') {
      if (there.model !== model) {
        const detail = `database "${id}" is being embedded with model "${there.model}"; cancel that first`;
        throw new CosiftError('reembedding_running', detail);
      }
      return this.#told(id);
    }
    const startedAt = new Date().toISOString();
    const job = this.#keep(id, { model, from: has.model, state: 'running', done: 0, startedAt });
    if (has.model === model && has.fingerprint === embedder.fingerprint) {
      job.state = 'done';
      return this.#told(id);
    }
    const begun = this.#begin(id, job, embedder);
    job.ended = begun.then(() => this.#run(id, job, embedder)).catch((error) => this.#fail(id, job, error));
    await begun;
    return this.#told(id);
  }

  /** Goes on with those that the end of a process interrupted. Resolves when they are known, not when they are done. */
  async resume(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      // One that cannot be read keeps nothing from being served: whoever begins it again is told why.
      const left = await this.#around.engine.reembedding(id).catch(() => null);
      if (left === null) continue;
      const { model, done, started_at: startedAt } = left;
      const from = this.#around.modelOf(id).model;
      const job = this.#keep(id, { model, from, state: 'running', done, startedAt });
      if (!this.#around.models.has(model)) {
        job.state = 'waiting';
        job.problem = { code: 'model_mismatch', detail: `this service does not have model "${model}"` };
        continue;
      }
      const goOn = async () => {
        const embedder = await this.#around.models.embedder(model);
        await this.#begin(id, job, embedder);
        await this.#run(id, job, embedder);
      };
      job.ended = goOn().catch((error) => this.#fail(id, job, error));
    }
  }

  /**
   * Ends one and removes what was made of it.
   *
   * @throws {CosiftError} `reembedding_not_found`
   */
  async cancel(id: string): Promise<void> {
    this.#around.modelOf(id);
    const job = await this.#stop(id);
    const state = job?.state;
    try {
      await this.#around.engine.cancelReembedding(id);
    } catch (error) {
      // One that failed for want of room has nothing left to remove.
      if (!(isCode(error, 'reembedding_not_found') && state === 'failed')) throw error;
    }
    this.#jobs.delete(id);
  }

  /** Forgets that of a database which is dropped. */
  async forget(id: string): Promise<void> {
    await this.#stop(id);
    this.#jobs.delete(id);
  }

  /** Stops all of them where they are; the next start goes on. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#jobs.keys()].map((id) => this.#stop(id)));
  }

  async #stop(id: string): Promise<Job | undefined> {
    const job = this.#jobs.get(id);
    job?.stop.abort();
    await job?.ended;
    return job;
  }

  #keep(id: string, facts: Omit<Job, 'stop' | 'ended'>): Job {
    const job: Job = { ...facts, stop: new AbortController(), ended: Promise.resolve() };
    this.#jobs.set(id, job);
    if (this.#closed) job.stop.abort();
    return job;
  }

  #told(id: string): Reembedding {
    return this.state(id)!;
  }

  async #begin(id: string, job: Job, { fingerprint, dimensions }: Embedder): Promise<void> {
    const settings = { model: job.model, fingerprint, dimensions };
    const begun = await this.#around.engine.beginReembedding(id, settings);
    job.done = begun.done;
    job.startedAt = begun.started_at;
  }

  async #run(id: string, job: Job, embedder: Embedder): Promise<void> {
    const { engine, gateOf, switched } = this.#around;
    await this.#catchUp(id, job, embedder);
    // Most of the work of the switch, done while writes go on.
    await engine.warmReembedding(id);
    for (;;) {
      await this.#catchUp(id, job, embedder);
      const open = await gateOf(id).close();
      try {
        job.state = 'switching';
        await this.#catchUp(id, job, embedder);
        await engine.switchReembedding(id);
        await switched(id);
        job.state = 'done';
        return;
      } catch (error) {
        // Something was written past the gate: once more.
        if (!isStale(error)) throw error;
        await this.#begin(id, job, embedder);
      } finally {
        open();
      }
      job.state = 'running';
    }
  }

  /** Embeds what the database has and its new vectors lack. */
  async #catchUp(id: string, job: Job, embedder: Embedder): Promise<void> {
    const { engine } = this.#around;
    const { signal } = job.stop;
    for (let last = false; !last; ) {
      signal.throwIfAborted();
      const batch = await patiently(() => engine.prepareReembedding(id), signal);
      const texts = batch.texts();
      const { vectors } = await embedder.embedPassages(texts, { signal, caller: REEMBEDDING, patient: true });
      const commit = () => engine.commitReembedding(id, batch, vectors, embedder.fingerprint);
      job.done = await patiently(commit, signal);
      last = batch.isLast;
    }
  }

  async #fail(id: string, job: Job, error: unknown): Promise<void> {
    if (job.stop.signal.aborted) return;
    job.state = 'failed';
    const code = error instanceof CosiftError ? error.code : 'internal';
    job.problem = { code, detail: error instanceof Error ? error.message : String(error) };
    // It would only keep the disk full.
    if (code === 'disk_full') await this.#around.engine.cancelReembedding(id).catch(() => undefined);
  }
}

/** Calls again for as long as too much is waiting: nobody waits for this. */
async function patiently<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isCode(error, 'busy')) throw error;
      await pause(BUSY_MS, undefined, { signal });
    }
  }
}

/** Whether the engine says that what was embedded no longer fits. */
export function isStale(error: unknown): boolean {
  return error instanceof CosiftError && error.fields.engine === 'stale';
}
