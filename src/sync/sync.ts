import { LinkedAbort } from '../async/linked-abort.js';
import { backoffMs, sleep } from '../async/sleep.js';
import type { SyncHold, SyncState, SyncTarget } from '../databases/index.js';
import { CosiftError, ERRORS, isCode } from '../errors.js';
import { MAX_REFUSED_ROWS } from './refused-rows.js';
import type { SyncSource } from './source.js';
import { type Passed, syncPass } from './sync-pass.js';
import type { SyncCounts, SyncProgress } from './sync-progress.js';
import { parseFailure, parseState, type StoredFailure, withFailure } from './sync-state.js';

/** Attempts of a pass that somebody waits for. */
const MAX_ATTEMPTS = 10;

/** The first pause after a failure, and the longest one. */
export const FIRST_PAUSE_MS = 500;
export const MAX_PAUSE_MS = 60_000;

/** Milliseconds after which a source that can tell whether it has changed is asked again. */
const LOOK_MS = 100;
/** Pauses between looks are so many times as long as a look. */
const LOOK_SHARE = 10;

export interface SyncSettings {
  /** The records of the source have keys that begin with it and `/`. */
  name: string;
  /** How many records a pass may delete. Default: a tenth of them, or ten. */
  maxDeletes?: number | undefined;
  /** Ends the sync, with the reason of the signal. */
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: SyncProgress) => void) | undefined;
  /** Milliseconds between the end of a pass and the next one. Default: passes are made only when they are asked for. */
  everyMs?: number | undefined;
  /** What is stored of a failure of the source, in place of its reason. */
  sourceFailure?: string | undefined;
  /** Called after each attempt of a pass, with what it did if it was complete. */
  onAttempt?: ((counts: SyncCounts | undefined) => void) | undefined;
}

/** How far a sync is. */
export interface SyncStatus {
  /**
   * `new`: no pass was complete yet. `reading`: a pass runs, or was interrupted. `waiting`: the next attempt is after a failure
   * that may end by itself. `failed`: somebody must do something. `withheld`: deletions wait for `confirm`. `in_step`: none of
   * these.
   */
  state: 'new' | 'reading' | 'waiting' | 'failed' | 'withheld' | 'in_step';
  /**
   * The moment of the source that the records show; absent before the first complete pass, and while a pass has written a part or
   * deletions are withheld.
   */
  inStepAsOf?: Date;
  /** The number of records of the source. */
  records: number;
  /** How many rows could not become records. */
  refused: number;
  /** The first 1,000 of them. */
  refusedRows: readonly { readonly key: string; readonly reason: string }[];
  /** How many records wait for a confirmation to be deleted. */
  withheld: number;
  /** Why the last attempt failed. */
  reason?: string;
  /** Why each pass scans the table, although `stream` asks for its changes at once. */
  byScan?: string;
  /** When the next attempt begins, or the next pass of a sync that follows its source. */
  nextAttempt?: Date;
  /** How far the running pass is, and how many rows it has stored per second. */
  progress?: SyncProgress & { rowsPerSecond: number };
  /** The last pass of this process that compared all rows, and when it was complete. */
  lastWholePass?: SyncCounts & { at: Date };
}

/** @internal What a store has of a sync before its first commit. */
export const NO_STATE: SyncState = { state: null, records: 0, keys: [] };

/** @internal The status of a sync that may not be open, by what it has stored. */
export function storedStatus({ state: text, records }: SyncState): SyncStatus {
  const stored = parseState(text);
  const failure = parseFailure(text);
  const reason = failure && { reason: failure.reason };
  if (stored === null) {
    return { state: failure?.state ?? 'new', records, refused: 0, refusedRows: [], withheld: 0, ...reason };
  }
  const { as_of, incomplete, refused, withheld, by_scan: byScan } = stored;
  return {
    state: failure?.state ?? (incomplete ? 'reading' : withheld > 0 ? 'withheld' : 'in_step'),
    ...(!incomplete && withheld === 0 && { inStepAsOf: new Date(as_of) }),
    records,
    refused: refused.count,
    refusedRows: refused.rows,
    withheld,
    ...reason,
    ...(byScan !== undefined && { byScan }),
  };
}

/** What a pass does besides. */
interface PassKind {
  whole?: boolean;
  /** How many of the records that the last pass withheld may be deleted. */
  confirmed?: number;
}

/** Opens a source. It is called again in the next pass after it has failed. */
export type OpenSource = () => Promise<SyncSource>;

/** A failure, and when the next attempt begins. */
interface Failure extends StoredFailure {
  nextAttempt?: Date;
}

/** Keeps the records of a source in step with it. Passes run one after the other. */
export class Sync {
  readonly #open: OpenSource;
  #source: SyncSource | undefined;
  /** Whether the next pass may go on with the bookmark of the last one. */
  #continues = false;
  readonly #target: SyncTarget;
  readonly #settings: SyncSettings;
  readonly #end: LinkedAbort;
  /** Resolves once no pass runs. */
  #idle: Promise<unknown> = Promise.resolve();
  /** The pass that begins after the running one, for all who wait to be in step. */
  #next: Promise<Date> | undefined;
  #isReading = false;
  #progress: (SyncProgress & { since: number }) | undefined;
  /** The most rows that an attempt of the pass has stored. */
  #furthest = 0;
  /** How many attempts have failed since one has stored more rows than those before it. */
  #failures = 0;
  #nextPass: Date | undefined;
  #lastWholePass: (SyncCounts & { at: Date }) | undefined;
  /** Ends the pause before the next attempt. */
  #wake: () => void = () => undefined;
  #failure: Failure | undefined;
  /** The state that was read last. */
  #stored: SyncState = NO_STATE;
  #asOf: Date | undefined;
  /** Whether another process may have made a pass during one of this process that did not succeed. */
  #lostHold = false;
  #closed: Promise<void> | undefined;

  /** @internal Takes over `source` and `target`, and releases both in `close`. */
  constructor(source: SyncSource | OpenSource, target: SyncTarget, settings: SyncSettings) {
    this.#open = typeof source === 'function' ? source : async () => source;
    this.#source = typeof source === 'function' ? undefined : source;
    this.#target = target;
    this.#settings = settings;
    this.#end = new LinkedAbort(settings.signal, target.closing);
    this.#end.signal.addEventListener('abort', () => this.close().catch(() => undefined), { once: true });
    // It ends by the close of the sync, which nobody need be told.
    if (settings.everyMs !== undefined) this.#follow(settings.everyMs).catch(() => undefined);
  }

  /**
   * Makes one pass. After failures that may end by themselves, it tries again, until ten attempts in a row have stored nothing
   * more.
   */
  async once(): Promise<SyncCounts> {
    return await this.#now({});
  }

  /**
   * Resolves once a pass that began after this call is complete, with the moment of the source that the records show. Tries
   * again after every failure, until the sync is closed.
   */
  async inStep(): Promise<Date> {
    this.#next ??= this.#queued(async () => {
      this.#next = undefined;
      return (await this.#attempts(Number.POSITIVE_INFINITY, {})).asOf;
    });
    return await this.#next;
  }

  /** Makes one pass that reads every row, also where less would do, and so mends what differs for any reason. */
  async reconcile(): Promise<SyncCounts> {
    return await this.#now({ whole: true });
  }

  /**
   * Makes one pass that also deletes the records that the last one withheld, and no more than these. With `max`, no more than
   * so many.
   */
  async confirm(max = Number.POSITIVE_INFINITY): Promise<SyncCounts> {
    if (!(max >= 0)) throw new CosiftError('invalid_request', `max: is ${max}, must be a number of records`);
    // What is withheld later was shown to nobody.
    const { withheld } = storedStatus(await this.#state());
    return await this.#now({ whole: true, confirmed: Math.min(max, withheld) });
  }

  async status(): Promise<SyncStatus> {
    // Before the state is read: a pass may end meanwhile.
    const nextAttempt = this.#failure === undefined ? this.#nextPass : this.#failure.nextAttempt;
    const now = {
      ...(this.#isReading && { state: 'reading' as const }),
      ...(this.#failure && { state: this.#failure.state, reason: this.#failure.reason }),
      ...(!this.#isReading && nextAttempt && { nextAttempt }),
      ...(this.#progress && { progress: withRate(this.#progress) }),
      ...(this.#lastWholePass && { lastWholePass: this.#lastWholePass }),
    };
    const asOf = this.#asOf;
    const { inStepAsOf, ...stored } = storedStatus(await this.#state());
    const latest = inStepAsOf && asOf !== undefined && asOf > inStepAsOf ? asOf : inStepAsOf;
    return { ...stored, ...(latest && { inStepAsOf: latest }), ...now };
  }

  async #state(): Promise<SyncState> {
    try {
      this.#stored = await this.#target.state();
    } catch (error) {
      // It was not created yet, or was dropped.
      if (isCode(error, 'database_not_found')) this.#stored = NO_STATE;
      // The failure that is shown may be that of the store.
      else if (this.#failure === undefined || !isTemporary(error)) throw error;
    }
    return this.#stored;
  }

  /** Ends the running pass, which the next sync of the source makes again. Each call returns the same promise. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    this.#end.abort(new CosiftError('stopped', `the sync "${this.#settings.name}" was closed`));
    this.#end.unlink();
    await this.#idle;
    try {
      await this.#source?.close();
    } finally {
      await this.#target.release();
    }
  }

  async #follow(everyMs: number): Promise<never> {
    const { signal } = this.#end;
    let lookMs = LOOK_MS;
    for (;;) {
      await this.inStep();
      this.#nextPass = new Date(Date.now() + everyMs);
      const next = performance.now() + everyMs;
      for (let left = everyMs; left > 0; left = next - performance.now()) {
        await sleep(this.#isLooking ? Math.min(left, lookMs) : left, signal);
        const began = performance.now();
        if (this.#isLooking && (await this.#queued(() => this.#hasChanged(signal)))) break;
        lookMs = Math.max(LOOK_MS, LOOK_SHARE * (performance.now() - began));
      }
      this.#nextPass = undefined;
    }
  }

  /** Whether the source can tell that it has changed, and the next pass need not read all rows. */
  get #isLooking(): boolean {
    return this.#source?.hasChanged !== undefined && this.#continues;
  }

  /** Asks the source whether it has changed, unless another process makes a pass. A failure is that of the pass that follows. */
  async #hasChanged(signal: AbortSignal): Promise<boolean> {
    let hold: SyncHold | undefined;
    try {
      hold = await this.#target.hold(signal);
      return (await this.#source?.hasChanged?.(signal)) ?? false;
    } catch (error) {
      signal.throwIfAborted();
      return !isCode(error, 'busy');
    } finally {
      await hold?.release();
    }
  }

  /** Makes a pass that somebody waits for. */
  async #now(how: PassKind): Promise<SyncCounts> {
    this.#wake();
    return (await this.#queued(() => this.#attempts(MAX_ATTEMPTS, how))).counts;
  }

  /** Runs `work` after the running pass. */
  async #queued<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#idle.then(work);
    this.#idle = result.catch(() => undefined);
    return await result;
  }

  /**
   * Makes a pass. Failures that may end by themselves are repeated until `max` attempts in a row have stored nothing more, all
   * others only without a maximum.
   */
  async #attempts(max: number, how: PassKind): Promise<Passed> {
    [this.#failures, this.#furthest] = [0, 0];
    for (;;) {
      try {
        const passed = await this.#pass(how);
        this.#settings.onAttempt?.(passed.counts);
        return passed;
      } catch (error) {
        this.#end.signal.throwIfAborted();
        const { state, reason } = failureOf(error);
        this.#failures += 1;
        const repeats = state === 'waiting' ? this.#failures < max : max === Number.POSITIVE_INFINITY;
        this.#failure = { state: repeats ? state : 'failed', reason };
        if (!repeats) {
          this.#settings.onAttempt?.(undefined);
          throw error;
        }
        const pause =
          state === 'waiting' ? backoffMs(this.#failures - 1, FIRST_PAUSE_MS, MAX_PAUSE_MS) : MAX_PAUSE_MS;
        this.#failure.nextAttempt = new Date(Date.now() + pause);
        this.#settings.onAttempt?.(undefined);
        await this.#pause(pause);
      }
    }
  }

  async #pause(ms: number): Promise<void> {
    const woken = new AbortController();
    this.#wake = () => {
      delete this.#failure?.nextAttempt;
      woken.abort();
    };
    try {
      await sleep(ms, this.#end.signal, woken.signal);
    } catch (error) {
      this.#end.signal.throwIfAborted();
      if (!woken.signal.aborted) throw error;
    } finally {
      this.#wake = () => undefined;
    }
  }

  async #pass({ whole = false, confirmed = 0 }: PassKind): Promise<Passed> {
    const { signal } = this.#end;
    signal.throwIfAborted();
    const { name, maxDeletes, onProgress } = this.#settings;
    const hold = await this.#target.hold(signal);
    using end = new LinkedAbort(signal, hold.lost);
    const since = performance.now();
    const options = {
      name,
      maxDeletes,
      confirmed,
      whole: whole || this.#lostHold,
      signal: end.signal,
      onProgress: (progress: SyncProgress) => {
        this.#progress = { ...progress, since };
        this.#failure = undefined;
        if (progress.rows > this.#furthest) [this.#failures, this.#furthest] = [0, progress.rows];
        onProgress?.(progress);
      },
    };
    this.#isReading = true;
    let failure: StoredFailure | undefined;
    try {
      this.#source ??= await this.#open();
      const passed = await syncPass(this.#source, this.#target, options);
      this.#failure = undefined;
      this.#asOf = passed.asOf;
      this.#lostHold = false;
      const { withheld, refused } = passed.counts;
      this.#continues = withheld === 0 && refused <= MAX_REFUSED_ROWS;
      if (passed.isWhole) this.#lastWholePass = { ...passed.counts, at: new Date() };
      return passed;
    } catch (error) {
      // Another process may have made a pass before the last commit of this one.
      this.#lostHold ||= hold.lost.aborted;
      failure = end.signal.aborted ? undefined : this.#storedFailure(error);
      throw error;
    } finally {
      await hold.release();
      this.#isReading = false;
      this.#progress = undefined;
      // The store itself may have failed.
      if (failure !== undefined) await this.#keepFailure(failure, signal).catch(() => undefined);
    }
  }

  #storedFailure(error: unknown): StoredFailure {
    const { state, reason } = failureOf(error);
    const isOfStore =
      error instanceof CosiftError && !['source_failed', 'source_unavailable'].includes(error.code);
    return { state, reason: isOfStore ? reason : (this.#settings.sourceFailure ?? reason) };
  }

  /** Stores a failure, so that other processes show it. */
  async #keepFailure(failure: StoredFailure, signal: AbortSignal): Promise<void> {
    // A target may have lost the hold of the pass by its failure.
    const hold = await this.#target.hold(signal);
    try {
      const { epoch, state } = await this.#target.state();
      const text = withFailure(state, failure);
      if (text === state) return;
      await this.#target.remove({ ids: [], epoch, state: { name: this.#settings.name, text } }, { signal });
    } finally {
      await hold.release();
    }
  }
}

function withRate({ since, ...progress }: SyncProgress & { since: number }) {
  return { ...progress, rowsPerSecond: progress.rows / Math.max(1e-3, (performance.now() - since) / 1_000) };
}

export function failureOf(error: unknown): StoredFailure {
  return {
    state: isTemporary(error) ? 'waiting' : 'failed',
    reason: error instanceof Error ? error.message : String(error),
  };
}

/** @internal Whether a failure may end without anybody doing something. */
export function isTemporary(error: unknown): boolean {
  if (isCode(error, 'hold_lost')) return true;
  return error instanceof CosiftError && [429, 503, 507].includes(ERRORS[error.code].status);
}
