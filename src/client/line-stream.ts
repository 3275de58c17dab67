import type { ClientRequest, IncomingMessage } from 'node:http';
import { nodeModule } from '../async/node-module.js';
import { CosiftError } from '../errors.js';
import type { LineEvent } from '../schema/public-types.js';
import { failureOf, MAX_FAILURE_BYTES, parseEvent, textOf, tooLong } from './read-response.js';
import { unreachable } from './unreachable.js';

/** Maximum bytes of one line of a response. */
export const MAX_LINE_BYTES = 4 << 20;

/**
 * Sends NDJSON and yields the events of the response while the request is sent. It does not use `fetch`, which may hold
 * back the response until the request has ended.
 *
 * @throws {CosiftError} `invalid_request` where there are no modules of Node; what the service reports; what `chunks` throws; `unreachable` when the response is missing or ends early.
 */
export async function* sendLines(
  { method, url, key }: { method: 'POST' | 'PUT'; url: string; key: string },
  chunks: AsyncIterable<Uint8Array>,
  signal?: AbortSignal,
): AsyncGenerator<LineEvent, void, undefined> {
  signal?.throwIfAborted();
  const http = nodeModule(url.startsWith('https:') ? 'node:https' : 'node:http');
  const stream = nodeModule('node:stream');
  // `stream.promises` is empty in Node 20 when a module of the program has imported `node:stream/promises` before.
  const promises = nodeModule('node:stream/promises');
  if (http === undefined || stream === undefined || promises === undefined) {
    const detail = 'a stream of lines needs Node, Deno or Bun: use `upsert`, which sends batches of records';
    throw new CosiftError('invalid_request', detail);
  }
  const request = http.request(url, {
    method,
    headers: { 'x-api-key': key, 'content-type': 'application/x-ndjson' },
    ...(signal && { signal }),
  });
  // The failure of the source closes the connection, so the failure of the connection that follows must not hide it.
  let source: { error: unknown } | undefined;
  const readSource = async function* () {
    const input = chunks[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await input.next().catch((error: unknown) => {
          source = { error };
          throw error;
        });
        if (next.done) return;
        // A failure of the connection is thrown here.
        yield next.value;
      }
    } finally {
      await input.return?.();
    }
  };
  const failed = (error: unknown): never => {
    signal?.throwIfAborted();
    if (source !== undefined) throw source.error;
    throw error instanceof CosiftError ? error : unreachable(url, error);
  };
  // A service that refuses the stream closes the request early: its response says more than the broken pipe.
  const sent = promises.pipeline(stream.Readable.from(readSource()), request).catch((error: Error) => error);
  try {
    const response = await responseOf(request).catch(failed);
    const { statusCode: status = 0, headers } = response;
    if (status !== 200) {
      const text = await textOf(response, MAX_FAILURE_BYTES).catch(failed);
      throw failureOf(status, headers.location, text, headers['retry-after']);
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

function responseOf(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve).once('error', reject);
    // A response that switches protocols closes the connection without an error.
    request.once('close', () => reject(new Error('the connection was closed before the response')));
  });
}

/** Splits UTF-8 into lines. Throws for a line that is longer than `maxBytes`, or shorter by its multi-byte characters. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
    if (rest.length > maxBytes) throw tooLong('a line of the response', maxBytes);
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}
