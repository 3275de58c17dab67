import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SyncCallOptions } from '../../databases/index.js';
import { CosiftError } from '../../errors.js';
import type { LineEvent, LineFailure } from '../../schema/index.js';
import { callerOf, checkKeyAgain, databaseOf, scopeOf } from '../admission/access.js';
import { bodyChunks } from '../http/body-chunks.js';
import { NDJSON, sendStream } from '../http/streamed-response.js';
import type { KeyStore } from '../keys/key-store.js';
import type { Dependencies } from './resource.js';

/** Sends the events of lines, which `write` writes while they arrive. */
export async function sendLines(
  { keys, timeouts, inFlight }: Dependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  write: (
    id: string,
    chunks: AsyncIterable<Uint8Array>,
    options: Omit<SyncCallOptions, 'onWait'>,
  ) => AsyncIterable<LineEvent>,
): Promise<FastifyReply> {
  const { body } = request;
  if (body === undefined) throw new CosiftError('invalid_request', 'the body is missing');
  const id = databaseOf(request);
  // Nothing is read while the client does not read the response, and the lines end when none is completed for `bodyMs`, so
  // the stream always ends.
  return sendStream(request, reply, inFlight.closing, {
    type: NDJSON,
    open: (signal) => {
      const chunks = bodyChunks(body as Readable, timeouts.bodyMs, signal);
      const { caller, check } = optionsOf(request, keys, signal);
      return write(id, chunks, { signal, caller, check });
    },
    lastLine: (failure) => ({ type: 'error', ...failure }) satisfies LineFailure,
  });
}

export function optionsOf(request: FastifyRequest, keys: KeyStore, signal: AbortSignal) {
  return {
    signal,
    caller: callerOf(request).path,
    scope: scopeOf(request),
    // The key may have been revoked or have expired while the texts were embedded or the write waited.
    check: () => checkKeyAgain(keys, request),
    // A write that waits for a re-embedding of its database gives up its place among the writes of all databases.
    onWait: () => request.resources?.yieldPlace(),
  };
}
