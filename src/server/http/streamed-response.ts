import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LinkedAbort } from '../../async/linked-abort.js';
import { CosiftError } from '../../errors.js';
import type { ProblemBody } from '../../schema/index.js';
import { logFailure } from './log-failure.js';
import { onClose } from './on-close.js';
import { asCosiftError, problemBody } from './problem-response.js';

type Failure = Pick<ProblemBody, 'code' | 'detail' | 'request_id' | 'max' | 'missing'>;

export const NDJSON = 'application/x-ndjson; charset=utf-8';

/** What a streamed response contains. */
export interface Streamed {
  type: string;
  /**
   * Returns the chunks: bytes, or values to send as lines of JSON. They end early once the signal is aborted: when the server
   * stops, when the caller disconnects, or when the first chunk comes too late.
   */
  open(signal: AbortSignal): AsyncIterable<object>;
  /** Maximum time until the first chunk. Default: any. */
  firstMs?: number;
  /** Called before a chunk is sent; throws when the caller may no longer have it. */
  check?(): Promise<void>;
  /**
   * Returns the last line of a response whose chunks fail after the first one. Without it, the connection is closed before
   * the end of the response, so that the client learns of the failure.
   */
  lastLine?(failure: Failure): object;
}

/**
 * Sends a response while it is made, as fast as the client reads it. An error before the first chunk becomes an ordinary
 * error response. The request keeps its resources until the chunks have ended, and they always end: also when the response
 * is never started, or the client does not read all of it. `closing` is aborted when the server stops.
 */
export async function sendStream(
  request: FastifyRequest,
  reply: FastifyReply,
  closing: AbortSignal,
  { type, open, firstMs, check, lastLine }: Streamed,
): Promise<FastifyReply> {
  const release = request.resources?.hold();
  const stop = new LinkedAbort(closing);
  const { signal } = stop;
  const chunks = open(signal)[Symbol.asyncIterator]();
  onClose(request, reply, () => {
    stop.abort(new CosiftError('stopped', 'the caller went away'));
    stop.unlink();
    const ended = Promise.resolve(chunks.return?.());
    ended.catch(() => undefined).finally(() => release?.());
  });
  const reasonOf = (error: unknown) => (signal.aborted ? signal.reason : error);

  const late = () => stop.abort(new CosiftError('timed_out', `took longer than ${firstMs} ms`));
  const timer = firstMs === undefined ? undefined : setTimeout(late, firstMs);
  let next: IteratorResult<object>;
  try {
    next = await chunks.next();
  } catch (error) {
    throw reasonOf(error);
  } finally {
    clearTimeout(timer);
  }

  async function* body(): AsyncGenerator<Uint8Array | string> {
    try {
      for (; !next.done; next = await chunks.next()) {
        await check?.();
        yield bytesOf(next.value);
      }
    } catch (error) {
      const failure = asCosiftError(reasonOf(error));
      logFailure(request.log, failure, 'stream ended early');
      if (lastLine === undefined) throw failure;
      const { code, detail, max, missing } = problemBody(failure, request.id);
      yield bytesOf(lastLine({ code, detail, request_id: request.id, max, missing }));
    }
  }

  reply.header('content-type', type);
  if (request.method === 'HEAD') return reply.send();
  return reply.send(Readable.from(body(), { objectMode: false }));
}

function bytesOf(chunk: object): Uint8Array | string {
  return chunk instanceof Uint8Array ? chunk : `${JSON.stringify(chunk)}\n`;
}
