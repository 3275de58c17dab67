import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';

const PART_BYTES = 65_536;

/** Sends longer responses in parts, so that it can be seen whether the caller takes them. */
export function sendInChunks(app: FastifyInstance): void {
  app.addHook<unknown>('onSend', async (_request, reply, payload) => {
    const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload;
    if (!(bytes instanceof Uint8Array) || bytes.length <= PART_BYTES) return payload;
    reply.header('content-length', String(bytes.length));
    return Readable.from(partsOf(bytes), { objectMode: false });
  });
}

function* partsOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += PART_BYTES) {
    yield bytes.subarray(start, start + PART_BYTES);
  }
}
