/** What one key may do: `quota` requests at once, refilled evenly over `windowSeconds`. */
export interface Rate {
  quota: number;
  windowSeconds: number;
}

export interface Taken {
  allowed: boolean;
  /** Whole requests left. */
  remaining: number;
  /** Until the bucket is full again. */
  resetSeconds: number;
  /** Until the next request is allowed; 0 when this one was. */
  retrySeconds: number;
}

// Full buckets carry nothing worth keeping, so that this bounds memory and forgets no debt.
const SWEEP_AT = 10_000;

/** One bucket a key. */
export class TokenBuckets {
  readonly #rate: Rate;
  readonly #buckets = new Map<string, { tokens: number; at: number }>();

  constructor(rate: Rate) {
    this.#rate = rate;
  }

  /** Takes one request of `key` at `now`, in milliseconds of a clock that never goes back. */
  take(key: string, now: number): Taken {
    const { quota, windowSeconds } = this.#rate;
    const perMs = quota / (windowSeconds * 1000);
    let bucket = this.#buckets.get(key);
    if (bucket === undefined) {
      if (this.#buckets.size >= SWEEP_AT) this.#sweep(now, perMs);
      bucket = { tokens: quota, at: now };
      this.#buckets.set(key, bucket);
    }
    bucket.tokens = Math.min(quota, bucket.tokens + (now - bucket.at) * perMs);
    bucket.at = now;
    const allowed = bucket.tokens >= 1;
    if (allowed) bucket.tokens -= 1;
    return {
      allowed,
      remaining: Math.floor(bucket.tokens),
      resetSeconds: Math.ceil((quota - bucket.tokens) / perMs / 1000),
      retrySeconds: allowed ? 0 : Math.max(1, Math.ceil((1 - bucket.tokens) / perMs / 1000)),
    };
  }

  #sweep(now: number, perMs: number): void {
    for (const [key, { tokens, at }] of this.#buckets) {
      if (tokens + (now - at) * perMs >= this.#rate.quota) this.#buckets.delete(key);
    }
  }
}
