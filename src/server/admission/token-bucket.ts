import { keysOf, shareOf } from '../../async/caller-path.js';

/** The rate limit of one key: a burst of `quota` requests, refilled evenly over `windowSeconds`. */
export interface Rate {
  quota: number;
  windowSeconds: number;
}

export interface RateLimitResult {
  allowed: boolean;
  /** The size of the bucket of the key. */
  quota: number;
  /** Requests left, rounded down. */
  remaining: number;
  /** Until the bucket is full. */
  resetSeconds: number;
  /** Until the same request is allowed; 0 when this one is allowed. */
  retrySeconds: number;
}

/** At this number of buckets, full ones are removed: a full bucket is the same as no bucket. */
const SWEEP_AT = 10_000;

interface Bucket {
  quota: number;
  tokens: number;
  at: number;
}

/**
 * One token bucket per key. A request takes a token from the bucket of its key and from those of the keys through which
 * that was issued.
 */
export class TokenBuckets {
  readonly #rate: Rate;
  readonly #buckets = new Map<string, Bucket>();

  constructor(rate: Rate) {
    this.#rate = rate;
  }

  /**
   * Takes `wanted` tokens for the last key of `path`. A bucket that is full may get into debt, because it never has more.
   * `now` is in milliseconds of a monotonic clock. `taken` is how many of the tokens the same request took before; a
   * refusal gives them back.
   */
  take(path: string, now: number, wanted = 1, taken = 0): RateLimitResult {
    const buckets = keysOf(path).map((key) => this.#bucketOf(key, now));
    for (const bucket of buckets) bucket.tokens = Math.min(bucket.quota, bucket.tokens + taken);
    const needed = ({ quota }: Bucket) => Math.min(wanted, quota);
    const allowed = buckets.every((bucket) => bucket.tokens >= needed(bucket));
    if (allowed) for (const bucket of buckets) bucket.tokens -= wanted;
    let scarcest = buckets[0]!;
    let [resetMs, retryMs] = [0, 0];
    for (const bucket of buckets) {
      const perMs = this.#refillOf(bucket);
      if (bucket.tokens < scarcest.tokens) scarcest = bucket;
      resetMs = Math.max(resetMs, (bucket.quota - bucket.tokens) / perMs);
      retryMs = Math.max(retryMs, (needed(bucket) - bucket.tokens) / perMs);
    }
    return {
      allowed,
      quota: buckets.at(-1)!.quota,
      remaining: Math.max(0, Math.floor(scarcest.tokens)),
      resetSeconds: Math.ceil(resetMs / 1000),
      retrySeconds: allowed ? 0 : Math.max(1, Math.ceil(retryMs / 1000)),
    };
  }

  /** The bucket of one key, filled up to `now`. */
  #bucketOf(key: string, now: number): Bucket {
    let bucket = this.#buckets.get(key);
    if (bucket === undefined) {
      if (this.#buckets.size >= SWEEP_AT) this.#sweep(now);
      const quota = shareOf(key, this.#rate.quota);
      bucket = { quota, tokens: quota, at: now };
      this.#buckets.set(key, bucket);
    }
    bucket.tokens = this.#tokensAt(bucket, now);
    bucket.at = now;
    return bucket;
  }

  #tokensAt(bucket: Bucket, now: number): number {
    return Math.min(bucket.quota, bucket.tokens + (now - bucket.at) * this.#refillOf(bucket));
  }

  /** Tokens per millisecond. */
  #refillOf({ quota }: Bucket): number {
    return quota / (this.#rate.windowSeconds * 1000);
  }

  #sweep(now: number): void {
    for (const [key, bucket] of this.#buckets) {
      if (this.#tokensAt(bucket, now) >= bucket.quota) this.#buckets.delete(key);
    }
  }
}
