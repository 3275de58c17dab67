/** The rate limit of one key: a burst of `quota` requests, refilled evenly over `windowSeconds`. */
export interface Rate {
  quota: number;
  windowSeconds: number;
}

export interface RateLimitResult {
  allowed: boolean;
  /** Requests left, rounded down. */
  remaining: number;
  /** Until the bucket is full. */
  resetSeconds: number;
  /** Until the next request is allowed; 0 when this one is allowed. */
  retrySeconds: number;
}

/** At this number of buckets, full ones are removed: a full bucket is the same as no bucket. */
const SWEEP_AT = 10_000;

/** One token bucket per key. */
export class TokenBuckets {
  readonly #rate: Rate;
  readonly #buckets = new Map<string, { tokens: number; at: number }>();

  constructor(rate: Rate) {
    this.#rate = rate;
  }

  /** Takes one token of `key`. `now` is in milliseconds of a monotonic clock. */
  take(key: string, now: number): RateLimitResult {
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
