import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { overTurns } from './turns.js';

const CHUNK_BYTES = 65_536;

/**
 * Sends larger responses in chunks, so that the progress of a slow client can be observed, and begins them one after the
 * other: it takes a millisecond to hand some megabytes to the operating system.
 */
export function sendInChunks(app: FastifyInstance): void {
  const begin = overTurns(1);
  app.addHook<unknown>('onSend', (_request, reply, payload, done) => {
    const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload;
    if (!(bytes instanceof Uint8Array) || bytes.length <= CHUNK_BYTES) return done(null, payload);
    reply.header('content-length', String(bytes.length));
    return begin(() => done(null, Readable.from(chunksOf(bytes), { objectMode: false })));
  });
}

function* chunksOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
    yield bytes.subarray(start, start + CHUNK_BYTES);
  }
}
