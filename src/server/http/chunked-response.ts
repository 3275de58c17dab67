import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { overTurns } from '../../async/turns.js';

const CHUNK_BYTES = 65_536;

/**
 * Begins longer responses one after the other, in a turn of the event loop each: it takes a millisecond to hand some
 * megabytes to the operating system. To be called before their bytes are counted, because those of a response that waits
 * for its turn leave no room for others.
 */
export function sendOverTurns(app: FastifyInstance): void {
  const begin = overTurns(1);
  app.addHook<unknown>('onSend', (_request, _reply, payload, done) => {
    const isText = typeof payload === 'string' || payload instanceof Uint8Array;
    if (isText && payload.length > CHUNK_BYTES) begin(() => done(null, payload));
    else done(null, payload);
  });
}

/** Sends longer responses in chunks, so that the progress of a slow client can be observed. */
export function sendInChunks(app: FastifyInstance): void {
  app.addHook<unknown>('onSend', (_request, reply, payload, done) => {
    const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload;
    if (!(bytes instanceof Uint8Array) || bytes.length <= CHUNK_BYTES) return done(null, payload);
    reply.header('content-length', String(bytes.length));
    return done(null, Readable.from(chunksOf(bytes), { objectMode: false }));
  });
}

function* chunksOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
    yield bytes.subarray(start, start + CHUNK_BYTES);
  }
}
