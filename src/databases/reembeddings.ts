import { isDeepStrictEqual } from 'node:util';
import { CosiftError, isCode } from '../errors.js';
import type { Reembedding } from '../schema/index.js';
import type { ReembeddingSettings } from '../store/reembedding-store.js';
import { makesSameVectors } from '../store/settings.js';
import type { Dependencies } from './dependencies.js';
import { type ReembeddingFacts, ReembeddingJob } from './reembedding-job.js';
import { checkPassages } from './settings-changes.js';
import { type OwnReembedding, SharedReembeddings } from './shared-reembeddings.js';

/** The re-embeddings of all databases, one per database. */
export class Reembeddings {
  readonly #dependencies: Dependencies;
  /** The re-embeddings that this process does or did. */
  readonly #jobs = new Map<string, ReembeddingJob>();
  /** Absent in a store that only this process uses. */
  readonly #shared: SharedReembeddings | undefined;
  readonly #owned = new WeakMap<ReembeddingJob, OwnReembedding>();
  readonly #releases: Promise<void>[] = [];
  /** Databases whose re-embedding is being cancelled. */
  readonly #cancelled = new Set<string>();
  #closed = false;

  constructor(dependencies: Dependencies) {
    const { leases } = dependencies.store.reembedder;
    this.#dependencies = dependencies;
    this.#shared = leases && new SharedReembeddings(leases);
  }

  /**
   * Returns the state of the last re-embedding of a database.
   *
   * @throws {CosiftError} `reembedding_not_found`
   */
  async find(id: string): Promise<Reembedding> {
    const { infos, calls } = this.#dependencies;
    using _call = calls.begin();
    await infos.get(id);
    const state = await this.#find(id);
    if (state !== undefined) return state;
    throw new CosiftError('reembedding_not_found', `database "${id}" has no re-embedding`);
  }

  async #find(id: string): Promise<Reembedding | undefined> {
    const job = this.#jobs.get(id);
    if (job !== undefined && isActive(job)) return this.#describe(id, job);
    // Another process may have done one since.
    const shared = await this.#shared?.find(id);
    if (this.#shared !== undefined) return shared && { ...shared.state, records: await this.#records(id) };
    return job && (await this.#describe(id, job));
  }

  /** Returns the unfinished re-embedding of a database with `records` records; undefined when there is none. */
  unfinished(id: string, records: number): Reembedding | undefined {
    const job = this.#jobs.get(id);
    const shared = this.#shared?.seen(id);
    const isShown = shared?.isElsewhere || job === undefined;
    if (shared !== undefined && isShown && shared.state.state !== 'done') return { ...shared.state, records };
    return job === undefined || job.state === 'done' ? undefined : job.describe(records);
  }

  /**
   * Begins to embed the records with another model, or other columns, in the background, or continues after a failure. A start
   * of the running re-embedding is idempotent. Without `given`, the columns are those of an unfinished re-embedding with the
   * model, or those of the database.
   *
   * @throws {CosiftError} `invalid_request` for an unknown model, `reembedding_running`.
   */
  async start(id: string, model: string, given?: ReembeddingSettings['embed']): Promise<Reembedding> {
    const { infos, models, calls } = this.#dependencies;
    using _call = calls.begin();
    await infos.get(id);
    const embedder = await models.embedder(model);
    const elsewhere = await this.#shared?.find(id);
    if (elsewhere?.isElsewhere) {
      checkSame(id, elsewhere.state, { model, embed: given });
      return { ...elsewhere.state, records: await this.#records(id) };
    }
    const info = await (this.#shared === undefined ? infos.get(id) : infos.refresh(id));
    // Nothing is awaited from here until the job is added, so that no other call can start one in between.
    const running = this.#jobs.get(id);
    if (running !== undefined && isActive(running)) {
      checkSame(id, running, { model, embed: given });
      return this.#describe(id, running);
    }
    const startedAt = new Date().toISOString();
    const before = running ?? elsewhere?.state;
    const unfinished = before?.model === model && before.state !== 'done' ? before : undefined;
    const embed = given ?? unfinished?.embed ?? info.embed ?? {};
    checkPassages(embed, model, embedder.window);
    const job = this.#add(id, { model, embed, from: info.model, done: 0, startedAt });
    if (!(await this.#take(id, job))) {
      this.#jobs.delete(id);
      return this.start(id, model, given);
    }
    const { fingerprint, dimensions } = embedder;
    if (makesSameVectors(info, { embed, model, fingerprint, dimensions })) {
      // What is unfinished would be continued by the next start of the process.
      await this.#cancelStored(id, true).finally(() => job.markDone());
      this.#releaseAtEnd(id, job);
    } else await job.start(embedder).finally(() => this.#releaseAtEnd(id, job));
    return this.#describe(id, job);
  }

  /**
   * Checks that no other re-embedding runs.
   *
   * @throws {CosiftError} `reembedding_running`
   */
  async check(id: string, target: ReembeddingTarget): Promise<void> {
    const elsewhere = await this.#shared?.find(id);
    const job = this.#jobs.get(id);
    if (elsewhere?.isElsewhere) checkSame(id, elsewhere.state, target);
    else if (job !== undefined && isActive(job)) checkSame(id, job, target);
  }

  /** Continues the re-embeddings that other processes leave. */
  watch(): void {
    this.#shared?.watch(({ database }) => this.resume(database));
  }

  /** Continues the re-embedding of a database that the end of a process interrupted. Resolves before it is done. */
  async resume(id: string): Promise<void> {
    const { store, infos, models } = this.#dependencies;
    // A re-embedding that cannot be read does not block the start. A request to start it reports the error.
    const unfinished = await store.reembedder.find(id).catch(() => null);
    if (unfinished === null) return;
    const { model, embed, done, startedAt } = unfinished;
    // Another process may have the model.
    if (this.#shared !== undefined && !models.has(model)) return;
    const { model: from } = await infos.get(id);
    // A job that was stopped to be cancelled looks like one whose process has ended.
    if (this.#cancelled.has(id)) return;
    const job = this.#add(id, { model, embed, from, done, startedAt });
    if (!(await this.#take(id, job))) {
      this.#jobs.delete(id);
      return;
    }
    if (!models.has(model)) return job.markWaiting();
    job.resume(() => models.embedder(model));
    this.#releaseAtEnd(id, job);
  }

  /**
   * Ends a re-embedding and removes its vectors; the database stays as it was.
   *
   * @throws {CosiftError} `reembedding_not_found`
   */
  async cancel(id: string): Promise<void> {
    const { infos, calls } = this.#dependencies;
    using _call = calls.begin();
    await infos.get(id);
    const job = this.#jobs.get(id);
    this.#cancelled.add(id);
    try {
      await job?.stop();
      // One that failed because the disk is full has removed its vectors already.
      await this.#cancelStored(id, job?.state === 'failed');
      // Only now, because a process resumes what is stored and has no lease.
      await this.#shared?.remove(id);
      this.#jobs.delete(id);
    } finally {
      this.#cancelled.delete(id);
    }
  }

  /** Removes the vectors of an unfinished re-embedding. `mayLack`: it may have none. */
  async #cancelStored(id: string, mayLack: boolean): Promise<void> {
    try {
      // The process that does it learns of that by its next step.
      await this.#dependencies.store.reembedder.cancel(id);
    } catch (error) {
      if (!(mayLack && isCode(error, 'reembedding_not_found'))) throw error;
    }
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
    await this.#shared?.remove(id);
  }

  /** Stops all re-embeddings; the next start of the process continues them. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#shared?.close();
    await Promise.all([...this.#jobs.values()].map((job) => job.stop()));
    await Promise.all(this.#releases);
  }

  #add(id: string, facts: ReembeddingFacts): ReembeddingJob {
    const job = new ReembeddingJob(id, facts, this.#dependencies);
    this.#jobs.set(id, job);
    if (this.#closed) job.abort();
    return job;
  }

  /** Makes this process the one that does a re-embedding; false while another process does it. */
  async #take(id: string, job: ReembeddingJob): Promise<boolean> {
    return (await this.#shared?.take(id, this.#own(id, job))) ?? true;
  }

  /** Lets other processes have the re-embedding, and know its result, once the job has ended. */
  #releaseAtEnd(id: string, job: ReembeddingJob): void {
    const released = job.ended.then(() => this.#shared?.release(id, this.#own(id, job)));
    // Without it, the lease ends by itself.
    this.#releases.push(released.catch(() => undefined));
  }

  #own(id: string, job: ReembeddingJob): OwnReembedding {
    const known = this.#owned.get(job);
    if (known !== undefined) return known;
    const own = {
      describe: () => this.#describe(id, job),
      lost: () => {
        job.abort();
        if (this.#jobs.get(id) === job) this.#jobs.delete(id);
      },
    };
    this.#owned.set(job, own);
    return own;
  }

  async #describe(id: string, job: ReembeddingJob): Promise<Reembedding> {
    return job.describe(await this.#records(id));
  }

  async #records(id: string): Promise<number> {
    const databases = await this.#dependencies.store.progress();
    return databases.find((database) => database.id === id)?.records ?? 0;
  }
}

function isActive({ state }: ReembeddingJob): boolean {
  return state === 'running' || state === 'switching';
}

/** What a re-embedding embeds with; without columns, those of another one with the model. */
type ReembeddingTarget = Partial<Pick<ReembeddingSettings, 'embed'>> & Pick<ReembeddingSettings, 'model'>;

/** @throws {CosiftError} `reembedding_running` */
function checkSame(
  id: string,
  running: ReembeddingTarget,
  { model, embed = running.embed }: ReembeddingTarget,
): void {
  if (running.model === model && isDeepStrictEqual(embed, running.embed)) return;
  const { columns, passages } = running.embed ?? {};
  const what =
    (columns === undefined ? '' : ` and the columns ${JSON.stringify(columns)}`) +
    (passages === undefined ? '' : ` and the passages ${JSON.stringify(passages)}`);
  const detail = `database "${id}" is being embedded with model "${running.model}"${what}; cancel that first`;
  throw new CosiftError('reembedding_running', detail);
}
