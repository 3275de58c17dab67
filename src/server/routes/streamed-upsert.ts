import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CosiftError } from '../../errors.js';
import type { LineEvent, LineFailure } from '../../schema/index.js';
import { callerOf, checkKeyAgain } from '../admission/access.js';
import { bodyChunks } from '../http/body-chunks.js';
import { logFailure } from '../http/log-failure.js';
import { onClose } from '../http/on-close.js';
import { asCosiftError, problemBody } from '../http/problem-response.js';
import type { Dependencies } from './dependencies.js';

/**
 * Upserts an NDJSON stream, and streams the response while records arrive. Nothing is read while the client does not
 * read the response, and the stream ends when no complete line arrives for `bodyMs`, so it always ends.
 */
export async function streamUpsert(
  { backend, keys, timeouts, inFlight }: Dependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  id: string,
): Promise<FastifyReply> {
  const release = request.resources?.hold();
  const stopped = new AbortController();
  const { signal } = stopped;
  const closing = () => stopped.abort(inFlight.closing.reason);
  inFlight.closing.addEventListener('abort', closing, { once: true });
  const chunks = bodyChunks(request.body as Readable, timeouts.bodyMs, signal);
  const check = () => checkKeyAgain(keys, request);
  const options = { signal, check, caller: callerOf(request).path };
  const events = backend.upsertLines(id, chunks, options)[Symbol.asyncIterator]();
  // Runs in every case, even if the response is never started or the client does not read all of it.
  onClose(request, reply, () => {
    inFlight.closing.removeEventListener('abort', closing);
    stopped.abort(new CosiftError('stopped', 'the caller went away'));
    const ended = Promise.resolve(events.return?.());
    ended.catch(() => undefined).finally(() => release?.());
  });

  // An error before the first event becomes an ordinary error response with its own status.
  let next: IteratorResult<LineEvent>;
  try {
    next = await events.next();
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }

  async function* lines(): AsyncGenerator<string> {
    try {
      while (!next.done) {
        yield `${JSON.stringify(next.value)}\n`;
        next = await events.next();
      }
    } catch (error) {
      const failure = asCosiftError(signal.aborted ? signal.reason : error);
      logFailure(request.log, failure, 'stream ended early');
      yield `${JSON.stringify(lineFailure(failure, request.id))}\n`;
    } finally {
      await events.return?.();
    }
  }

  const response = Readable.from(lines(), { objectMode: false });
  return reply.header('content-type', 'application/x-ndjson; charset=utf-8').send(response);
}

function lineFailure(error: CosiftError, requestId: string): LineFailure {
  const { code, detail } = problemBody(error, requestId);
  return { type: 'error', code, detail, request_id: requestId };
}
