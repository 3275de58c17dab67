import { CosiftError, isCode } from '../errors.js';
import type { Reembedding } from '../schema/index.js';
import type { Models } from './models.js';
import { type ReembeddingDependencies, type ReembeddingFacts, ReembeddingJob } from './reembedding-job.js';

/** The re-embeddings of all databases, one per database. */
export class Reembeddings {
  readonly #dependencies: ReembeddingDependencies;
  readonly #models: Models;
  readonly #jobs = new Map<string, ReembeddingJob>();
  #closed = false;

  constructor(dependencies: ReembeddingDependencies, models: Models) {
    this.#dependencies = dependencies;
    this.#models = models;
  }

  /** Returns the state of the last re-embedding of a database; undefined when there is none. */
  async state(id: string): Promise<Reembedding | undefined> {
    const job = this.#jobs.get(id);
    return job && (await this.#describe(id, job));
  }

  /** Returns the unfinished re-embedding of a database with `records` records; undefined when there is none. */
  unfinished(id: string, records: number): Reembedding | undefined {
    const job = this.#jobs.get(id);
    return job === undefined || job.state === 'done' ? undefined : job.describe(records);
  }

  /**
   * Starts a re-embedding, or continues one that failed. A start with the model of the running re-embedding is
   * idempotent.
   *
   * @throws {CosiftError} `invalid_request` for an unknown model, `reembedding_running`.
   */
  async start(id: string, model: string): Promise<Reembedding> {
    const { infos } = this.#dependencies;
    await infos.get(id);
    const embedder = await this.#models.embedder(model);
    const info = await infos.get(id);
    // Nothing is awaited from here until the job is added, so that no other call can start one in between.
    const running = this.#jobs.get(id);
    if (running?.state === 'running' || running?.state === 'switching') {
      if (running.model !== model) {
        const detail = `database "${id}" is being embedded with model "${running.model}"; cancel that first`;
        throw new CosiftError('reembedding_running', detail);
      }
      return this.#describe(id, running);
    }
    const startedAt = new Date().toISOString();
    const job = this.#add(id, { model, from: info.model, done: 0, startedAt });
    if (info.model === model && info.fingerprint === embedder.fingerprint) job.markDone();
    else await job.start(embedder);
    return this.#describe(id, job);
  }

  /** Continues the re-embeddings that the end of a process interrupted. Resolves before they are done. */
  async resume(ids: readonly string[]): Promise<void> {
    const { store, infos } = this.#dependencies;
    for (const id of ids) {
      // A re-embedding that cannot be read does not block the start. A request to start it reports the error.
      const unfinished = await store.reembedding(id).catch(() => null);
      if (unfinished === null) continue;
      const { model, done, startedAt } = unfinished;
      const { model: from } = await infos.get(id);
      const job = this.#add(id, { model, from, done, startedAt });
      if (this.#models.has(model)) job.resume(() => this.#models.embedder(model));
      else job.markWaiting();
    }
  }

  /**
   * Ends a re-embedding and removes its vectors.
   *
   * @throws {CosiftError} `reembedding_not_found`
   */
  async cancel(id: string): Promise<void> {
    const { store, infos } = this.#dependencies;
    await infos.get(id);
    const job = this.#jobs.get(id);
    await job?.stop();
    try {
      await store.cancelReembedding(id);
    } catch (error) {
      // A re-embedding that failed because the disk is full has removed its vectors already.
      if (!(isCode(error, 'reembedding_not_found') && job?.state === 'failed')) throw error;
    }
    this.#jobs.delete(id);
  }

  /**
   * Stops the re-embedding of a database, drops the database with `drop`, and forgets the re-embedding. When `drop`
   * fails, the re-embedding is kept as failed, because its vectors may still be stored.
   */
  async drop(id: string, drop: () => Promise<void>): Promise<void> {
    const job = this.#jobs.get(id);
    await job?.stop();
    try {
      await drop();
    } catch (error) {
      job?.markStopped(error);
      throw error;
    }
    this.#jobs.delete(id);
  }

  /** Stops all re-embeddings; the next start of the process continues them. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#jobs.values()].map((job) => job.stop()));
  }

  #add(id: string, facts: ReembeddingFacts): ReembeddingJob {
    const job = new ReembeddingJob(id, facts, this.#dependencies);
    this.#jobs.set(id, job);
    if (this.#closed) job.abort();
    return job;
  }

  async #describe(id: string, job: ReembeddingJob): Promise<Reembedding> {
    const databases = await this.#dependencies.store.progress();
    return job.describe(databases.find((database) => database.id === id)?.records ?? 0);
  }
}
