import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CosiftError } from '../errors.js';
import type { LineEvent } from '../schema/index.js';
import { failureOf, MAX_FAILURE_BYTES, parseEvent, textOf, tooLong } from './read-response.js';
import { unreachable } from './unreachable.js';

/** Maximum bytes of one line of a response. */
const MAX_LINE_BYTES = 4 << 20;

/**
 * Posts NDJSON and yields the events of the response while the request is sent. It does not use `fetch`, which may hold
 * back the response until the request has ended.
 *
 * @throws {CosiftError} what the service reports; what `chunks` throws; `unreachable` when the response is missing or ends early.
 */
export async function* postLines(
  url: string,
  key: string,
  chunks: AsyncIterable<Uint8Array>,
  signal?: AbortSignal,
): AsyncGenerator<LineEvent, void, undefined> {
  signal?.throwIfAborted();
  const send = url.startsWith('https:') ? httpsRequest : httpRequest;
  const request = send(url, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/x-ndjson' },
    ...(signal && { signal }),
  });
  // The failure of the source closes the connection, so the failure of the connection that follows must not hide it.
  let source: { error: unknown } | undefined;
  const readSource = async function* () {
    try {
      yield* chunks;
    } catch (error) {
      source = { error };
      throw error;
    }
  };
  const failed = (error: unknown): never => {
    signal?.throwIfAborted();
    if (source !== undefined) throw source.error;
    throw error instanceof CosiftError ? error : unreachable(url, error);
  };
  // A service that refuses the stream closes the request early: its response says more than the broken pipe.
  const sent = pipeline(Readable.from(readSource()), request).catch((error: Error) => error);
  try {
    const response = await responseOf(request).catch(failed);
    const { statusCode: status = 0, headers } = response;
    if (status !== 200) {
      throw failureOf(status, headers.location, await textOf(response, MAX_FAILURE_BYTES).catch(failed));
    }
    let ended = false;
    const lines = linesOf(response, MAX_LINE_BYTES);
    for (;;) {
      const { done, value: line } = await lines.next().catch(failed);
      if (done) break;
      const event = parseEvent(line, url);
      ended = event.type === 'summary';
      yield event;
    }
    const unsent = await sent;
    if (unsent instanceof Error) failed(unsent);
    if (!ended) failed(new Error('the connection was closed before the end of the response'));
  } finally {
    request.destroy();
  }
}

function responseOf(request: ReturnType<typeof httpRequest>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve).once('error', reject);
    // A response that switches protocols closes the connection without an error.
    request.once('close', () => reject(new Error('the connection was closed before the response')));
  });
}

/** Splits bytes into lines. Throws for a line that is longer than `maxBytes`. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<string> {
  let rest = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = rest.indexOf(0x0a); end >= 0; end = rest.indexOf(0x0a, start)) {
      yield rest.toString('utf8', start, end);
      start = end + 1;
    }
    rest = rest.subarray(start);
    if (rest.length > maxBytes) throw tooLong('a line of the response', maxBytes);
  }
  if (rest.length > 0) yield rest.toString('utf8');
}
