import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CosiftError } from '../../errors.js';
import type { LineEvent, LineFailure } from '../../schema/index.js';
import { callerOf } from '../access.js';
import { asCosiftError, problemBody } from '../problem-reply.js';
import type { Services } from '../services.js';

/**
 * Answers a stream of records while it arrives. Nothing is read from the caller while the answer cannot be
 * written, and a pause of `bodyMs` in either direction ends the stream: no side can hold the other forever.
 */
export async function answerLines(
  { backend, timeouts, inFlight }: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  id: string,
): Promise<FastifyReply> {
  const stopped = new AbortController();
  const stop = (error: CosiftError) => stopped.abort(error);
  const closing = () => stop(inFlight.closing.reason);
  inFlight.closing.addEventListener('abort', closing, { once: true });
  reply.raw.once('close', () => {
    inFlight.closing.removeEventListener('abort', closing);
    if (!reply.raw.writableFinished) stop(new CosiftError('stopped', 'the caller went away'));
  });
  // An aborted `stopped` ends the chunks, too: the backend then commits nothing more.
  const chunks = chunksOf(request.body as Readable, timeouts.bodyMs, stopped.signal);
  const options = { signal: stopped.signal, caller: callerOf(request).keyId };
  const events = backend.upsertLines(id, chunks, options)[Symbol.asyncIterator]();

  // What is wrong before the first line is an ordinary problem with a status of its own.
  let next: IteratorResult<LineEvent>;
  try {
    next = await events.next();
  } catch (error) {
    throw stopped.signal.aborted ? stopped.signal.reason : error;
  }

  async function* lines(): AsyncGenerator<string> {
    try {
      while (!next.done) {
        yield `${JSON.stringify(next.value)}\n`;
        next = await events.next();
      }
    } catch (error) {
      const failure = asCosiftError(stopped.signal.aborted ? stopped.signal.reason : error);
      if (failure.status >= 500)
        request.log.error({ err: failure, code: failure.code }, 'stream ended early');
      yield `${JSON.stringify(lineFailure(failure, request.id))}\n`;
    } finally {
      await events.return?.();
    }
  }

  const answer = Readable.from(lines(), { objectMode: false });
  endWhenStalled(reply, timeouts.bodyMs);
  return reply.header('content-type', 'application/x-ndjson; charset=utf-8').send(answer);
}

function lineFailure(error: CosiftError, requestId: string): LineFailure {
  const { code, detail } = problemBody(error, requestId);
  return { type: 'error', code, detail, request_id: requestId };
}

/** The chunks of `body`; throws when none arrives for `idleMs` or once `signal` is aborted. */
async function* chunksOf(body: Readable, idleMs: number, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const iterator = body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  for (;;) {
    let timer: NodeJS.Timeout | undefined;
    let abort: (() => void) | undefined;
    const ended = new Promise<never>((_, reject) => {
      const late = new CosiftError('request_timeout', `no line arrived for ${idleMs} ms`);
      timer = setTimeout(() => reject(late), idleMs);
      abort = () => reject(signal.reason);
      if (signal.aborted) abort();
      signal.addEventListener('abort', abort, { once: true });
    });
    try {
      const next = await Promise.race([iterator.next(), ended]);
      if (next.done) return;
      yield next.value;
    } finally {
      clearTimeout(timer);
      if (abort !== undefined) signal.removeEventListener('abort', abort);
    }
  }
}

/** Cuts the connection of a caller who does not read what is written for `idleMs`. */
function endWhenStalled(reply: FastifyReply, idleMs: number): void {
  let written = -1;
  const timer = setInterval(() => {
    const { socket } = reply.raw;
    if (socket === null || socket.writableLength === 0) return;
    if (socket.bytesWritten === written) socket.destroy();
    written = socket.bytesWritten;
  }, idleMs);
  reply.raw.once('close', () => clearInterval(timer));
}
