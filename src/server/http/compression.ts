import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { FairLimiter } from '../../async/fair-limiter.js';
import { acceptedCodings, type Coding } from './accept-encoding.js';
import { addVary } from './vary.js';

/** Smaller responses fit in one packet, so compression would save no time. */
const MIN_BYTES = 1_024;

/**
 * Larger responses are compressed in the thread pool, so that they do not hold up the event loop. Up to this size,
 * compressing takes less time than passing the bytes to the thread pool.
 */
const MAX_SYNC_BYTES = 16_384;

const COMPRESSIBLE = /^(text\/|application\/([\w.]+\+)?json)/;

// Higher levels take up to five times as long for results that are 10 % smaller.
const GZIP = { level: constants.Z_BEST_SPEED };
const brotliOptions = (bytes: number) => ({
  params: {
    [constants.BROTLI_PARAM_QUALITY]: 1,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes,
    // A window larger than the response would only take memory.
    [constants.BROTLI_PARAM_LGWIN]: Math.min(
      constants.BROTLI_DEFAULT_WINDOW,
      Math.max(constants.BROTLI_MIN_WINDOW_BITS, Math.ceil(Math.log2(bytes + 16))),
    ),
  },
});

/** Large responses that are compressed at once, so that a processor is left to the event loop. */
const MAX_AT_ONCE = Math.max(1, availableParallelism() - 1);

/**
 * Compresses text and JSON for clients that accept it. Streams stay as they are, because their lines must arrive one by
 * one. A response is compressed as a whole, so that it has a `content-length`, and the limits for clients that do not
 * read apply to it as to any other. Callers take turns; `payerOf` returns that of a request.
 */
export function compressResponses(app: FastifyInstance, payerOf: (request: FastifyRequest) => string): void {
  const turns = new FairLimiter({
    total: MAX_AT_ONCE,
    perCaller: MAX_AT_ONCE,
    // The limit of unsent bytes holds here, too.
    waiting: Number.POSITIVE_INFINITY,
  });
  app.addHook<unknown>('onSend', (request, reply, payload, done) => {
    if (!isCompressible(request, reply, payload)) return done(null, payload);
    addVary(reply, 'accept-encoding');
    const bytes = Buffer.byteLength(payload);
    const coding = codingOf(request, bytes);
    if (coding === 'identity') return done(null, payload);
    reply.header('content-encoding', coding);
    reply.removeHeader('content-length');
    if (bytes <= MAX_SYNC_BYTES) return done(null, compressSync(payload, coding, bytes));
    const compressed = turns.run(payerOf(request), () => compress(payload, coding, bytes));
    return void compressed.then((body) => done(null, body), done);
  });
}

/** Whether the coding of a response may depend on the request. */
function isCompressible(
  { operation }: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): payload is string | Uint8Array {
  if (!(typeof payload === 'string' || payload instanceof Uint8Array) || payload.length === 0) return false;
  if (reply.hasHeader('content-encoding')) return false;
  // The size of a compressed response reveals whether a text of the request resembles a secret next to it (BREACH).
  if (operation?.showsSecret) return false;
  return COMPRESSIBLE.test(String(reply.getHeader('content-type')));
}

export function codingOf({ headers }: FastifyRequest, bytes: number): Coding {
  const header = headers['accept-encoding'];
  if (typeof header !== 'string') return 'identity';
  const accepted = acceptedCodings(header);
  if (bytes < MIN_BYTES && accepted.includes('identity')) return 'identity';
  // A client that accepts nothing that exists here can at least read the status.
  return accepted[0] ?? 'identity';
}

function compressSync(payload: string | Uint8Array, coding: Coding, bytes: number): Buffer {
  return coding === 'gzip' ? gzipSync(payload, GZIP) : brotliCompressSync(payload, brotliOptions(bytes));
}

function compress(payload: string | Uint8Array, coding: Coding, bytes: number): Promise<Buffer> {
  return coding === 'gzip'
    ? promisify(gzip)(payload, GZIP)
    : promisify(brotliCompress)(payload, brotliOptions(bytes));
}

/** Compresses a body that is sent many times, as small as that is worth, in the thread pool. */
export async function compressWell(body: Buffer, coding: Coding): Promise<Buffer> {
  if (coding === 'gzip') return await promisify(gzip)(body, { level: constants.Z_DEFAULT_COMPRESSION });
  return await promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
}
