import { FairLimiter } from '../async/fair-limiter.js';

/**
 * Requests of one client that are under way. By default, a service allows 192 searches and 12 writes of a key that the admin
 * key issued, and fewer of a key that another one issued.
 */
const MAX_READS = 64;
const MAX_WRITES = 8;

/** Batches of searches, each of which counts as up to 64. */
const MAX_BATCHES = 2;

const MATCHES = /\/(search|query|map)$/;

/**
 * Limits how many requests of a client are under way, because a service refuses those of a key beyond its limit. The
 * others wait; each database has a queue in the order of arrival, and databases take turns. Any number may wait: the
 * program holds a promise for each.
 *
 * Not limited are requests that may last: waits for changes, streams of lines, exports. A program may read several of
 * them in turn, so none may wait for the end of another.
 */
export class RequestLimits {
  readonly #reads = limiter(MAX_READS);
  readonly #batches = limiter(MAX_BATCHES);
  readonly #writes = limiter(MAX_WRITES);

  /**
   * Runs `exchange`, which sends a request and reads its response, once there is room for it.
   *
   * @throws the reason of the signal when it is aborted before; otherwise what `exchange` throws.
   */
  run<T>(
    method: string,
    path: string,
    signal: AbortSignal | undefined,
    exchange: () => Promise<T>,
  ): Promise<T> {
    const limiter = this.#limiterOf(method, path);
    if (limiter === undefined) return exchange();
    const [, , database = ''] = path.split('/', 3);
    return limiter.run(database, exchange, { signal });
  }

  #limiterOf(method: string, path: string): FairLimiter | undefined {
    if (path.includes('/changes?')) return undefined;
    if (method === 'GET' || (method === 'POST' && MATCHES.test(path))) return this.#reads;
    if (path.endsWith('/searches')) return this.#batches;
    // Changes of databases, keys and webhooks are few, and need not wait for the records.
    return path.includes('/records') ? this.#writes : undefined;
  }
}

function limiter(total: number): FairLimiter {
  return new FairLimiter({ total, perCaller: total, waiting: Number.POSITIVE_INFINITY });
}
