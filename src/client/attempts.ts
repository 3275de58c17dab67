import { backoffMs } from '../async/sleep.js';
import type { CosiftError, ErrorCode } from '../errors.js';

/** Codes of a service that did nothing, because it can do nothing at the moment. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set(['busy', 'rate_limited', 'not_ready']);

/** How long a call waits for a service that refuses it, if nothing else is said. */
const MAX_WAIT_MS = 60_000;

const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 6_400;

export interface AttemptOptions {
  /** Maximum number of further attempts after failures; with 0, there is none after a refusal either. */
  retries: number;
  maxWaitMs: number | undefined;
  /** Whether the caller gave a signal, which ends the wait for a service that refuses the request. */
  hasSignal: boolean;
  /** Whether the request creates a key or a webhook. Then `busy` may mean that there are too many of them already. */
  createsSecret: boolean;
  /** Whether the request has a condition, which it fails if an earlier attempt was carried out. */
  isConditional: boolean | undefined;
}

/** Decides whether and when a request is sent again. */
export class Attempts {
  readonly #options: AttemptOptions;
  #failures = 0;
  #refusals = 0;
  #refusedSince: number | undefined;

  constructor(options: AttemptOptions) {
    this.#options = options;
  }

  /** Returns the milliseconds until the next attempt after a lost connection; undefined when there is none. */
  afterLoss(): number | undefined {
    // A second attempt would create a second secret. Every other operation is idempotent, unless it has a condition.
    return this.#options.createsSecret
      ? undefined
      : this.#afterFailure(backoffMs(this.#failures, FIRST_PAUSE_MS, MAX_PAUSE_MS));
  }

  /** Returns the milliseconds until the next attempt after `error`; undefined when there is none. */
  afterResponse({ status, headers }: Response, { code }: CosiftError): number | undefined {
    if (status !== 429 && status !== 503) return undefined;
    const seconds = Number(headers.get('retry-after') ?? Number.NaN);
    if (!Number.isFinite(seconds))
      return this.#afterFailure(backoffMs(this.#failures, FIRST_PAUSE_MS, MAX_PAUSE_MS));
    const isTemporary = REFUSALS.has(code) && !(code === 'busy' && this.#options.createsSecret);
    return isTemporary ? this.#afterRefusal(seconds * 1000, code) : this.#afterFailure(seconds * 1000);
  }

  #afterFailure(pauseMs: number): number | undefined {
    const { retries, maxWaitMs = MAX_WAIT_MS, isConditional } = this.#options;
    if (isConditional) return undefined;
    this.#failures += 1;
    return this.#failures > retries || pauseMs > maxWaitMs ? undefined : pauseMs;
  }

  #afterRefusal(retryAfterMs: number, code: ErrorCode): number | undefined {
    const { retries, maxWaitMs, hasSignal } = this.#options;
    if (retries === 0) return undefined;
    const now = performance.now();
    this.#refusedSince ??= now;
    const pauseMs = Math.max(retryAfterMs, backoffMs(this.#refusals, FIRST_PAUSE_MS, MAX_PAUSE_MS));
    this.#refusals += 1;
    // A database that cannot be opened is never ready, and a signal need not have a time limit.
    const isEndless = hasSignal && code !== 'not_ready';
    const limitMs = maxWaitMs ?? (isEndless ? Number.POSITIVE_INFINITY : MAX_WAIT_MS);
    return now - this.#refusedSince + pauseMs > limitMs ? undefined : pauseMs;
  }
}
