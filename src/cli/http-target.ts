import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CosiftError, isErrorCode } from '../errors.js';
import type { Reembedder } from '../reembed.js';
import type {
  BatchResult,
  DatabaseDescription,
  DatabaseSettings,
  LineEvent,
  LineFailure,
  PageB,
  ProblemBody,
  Reembedding,
  SearchRequest,
} from '../schema/index.js';
import { unreachable } from '../unreachable.js';
import { fits, isEvent, isProblem, linesOf, SHAPES, type Shape, textOf } from './response.js';
import type { Target } from './target.js';

/** Bytes of the longest response that is read, and of the longest line of one. */
const MAX_BYTES = 256 << 20;
const MAX_LINE_BYTES = 4 << 20;

/** A running server. */
export class HttpTarget implements Target {
  readonly #base: string;
  readonly #key: string;

  readonly #unreachable = (error: unknown): never => {
    throw unreachable(this.#base, error);
  };

  constructor(url: string, key: string) {
    this.#base = `${url}/v1`;
    this.#key = key;
  }

  async ensureDatabase(id: string, settings: DatabaseSettings): Promise<void> {
    if (Object.keys(settings).length === 0) {
      const found = await this.#fetch('GET', `/databases/${id}`);
      if (found.ok) return void (await found.body?.cancel());
      if (found.status !== 404) throw await this.#failureOf(found);
    }
    await this.#call('PUT', `/databases/${id}`, settings);
  }

  async search(id: string, request: SearchRequest): Promise<PageB> {
    return (await this.json('POST', `/databases/${id}/search`, SHAPES.page, request)) as PageB;
  }

  reembedder(id: string): Reembedder {
    const path = `/databases/${id}/reembedding`;
    return {
      start: async (model) => (await this.json('POST', path, SHAPES.reembedding, { model })) as Reembedding,
      read: async () => (await this.json('GET', path, SHAPES.reembedding)) as Reembedding,
      describe: async () =>
        (await this.json('GET', `/databases/${id}`, SHAPES.database)) as DatabaseDescription,
      cancel: () => this.delete(path),
    };
  }

  /** The JSON of the response, which has the shape that the caller relies on. */
  async json(method: string, path: string, shape: Shape, body?: unknown): Promise<unknown> {
    const text = await this.#call(method, path, body);
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (cause) {
      throw new CosiftError('internal', `the response of ${this.#base} is not JSON`, { cause });
    }
    if (!fits(value, shape)) throw this.#foreign();
    return value;
  }

  /** A request whose response has no body. */
  async delete(path: string): Promise<void> {
    await this.#call('DELETE', path);
  }

  async #call(method: string, path: string, body?: unknown): Promise<string> {
    const answer = await this.#fetch(method, path, body);
    if (!answer.ok) throw await this.#failureOf(answer);
    return textOf(answer.body ?? Readable.from([]), MAX_BYTES).catch(this.#unreachable);
  }

  #foreign(cause?: unknown): CosiftError {
    return new CosiftError('internal', `the response of ${this.#base} is not one of cosift`, { cause });
  }

  async close(): Promise<void> {}

  async upsert(id: string, records: readonly object[]): Promise<BatchResult> {
    return (await this.json('POST', `/databases/${id}/records`, SHAPES.batch, { records })) as BatchResult;
  }

  /** Sends lines and reads events at once; `fetch` would not promise to. */
  async *upsertLines(
    id: string,
    chunks: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): AsyncGenerator<LineEvent> {
    const url = new URL(`${this.#base}/databases/${id}/records`);
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = send(url, {
      method: 'POST',
      signal,
      headers: { 'x-api-key': this.#key, 'content-type': 'application/x-ndjson' },
    });
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      request.once('response', resolve).once('error', reject);
      // A response that switches protocols closes the connection without an error.
      request.once('close', () => reject(new Error('the connection was closed before the response')));
    });
    // A server that refuses closes the request early: its answer tells more than the broken pipe.
    const sent = pipeline(Readable.from(chunks), request).catch((error: Error) => error);
    const answer = await answered.catch(this.#unreachable);
    const { statusCode: status = 0, headers } = answer;
    if (status !== 200) {
      throw await this.#failureOf({ status, location: headers.location, body: answer });
    }
    let ended = false;
    const lines = linesOf(answer, MAX_LINE_BYTES);
    for (;;) {
      const { done, value: line } = await lines.next().catch(this.#unreachable);
      if (done) break;
      const event = this.#event(line);
      if (event.type === 'error') throw new CosiftError(codeOf(event.code), event.detail);
      ended = event.type === 'summary';
      yield event;
    }
    const unsent = await sent;
    if (unsent instanceof Error) throw unreachable(url, unsent);
    if (!ended) throw unreachable(url, new Error('the connection was closed before the end of the response'));
  }

  #fetch(method: string, path: string, body?: unknown): Promise<Response> {
    return fetch(`${this.#base}${path}`, {
      method,
      // A redirect would take the key to another address.
      redirect: 'manual',
      headers: {
        'x-api-key': this.#key,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch(this.#unreachable);
  }

  #event(line: string): LineEvent | LineFailure {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch (cause) {
      throw this.#foreign(cause);
    }
    if (!isEvent(value)) throw this.#foreign();
    return value as LineEvent | LineFailure;
  }

  /** What a response tells that is none of a success. */
  async #failureOf(answer: Response | Failed): Promise<CosiftError> {
    const { status } = answer;
    const text = await textOf(answer.body ?? Readable.from([]), MAX_LINE_BYTES).catch(this.#unreachable);
    let problem: unknown;
    try {
      problem = JSON.parse(text);
    } catch {
      // Not from the service: a proxy, or another server.
    }
    if (isProblem(problem)) {
      const { code, detail, errors } = problem as ProblemBody;
      return new CosiftError(codeOf(code), detail, errors === undefined ? {} : { problems: errors });
    }
    if (status >= 300 && status < 400) {
      const location = 'location' in answer ? answer.location : answer.headers.get('location');
      const target = location ?? 'another address';
      return new CosiftError(
        'internal',
        `the server redirects to ${target}, which is not followed: use that address`,
      );
    }
    return new CosiftError('internal', `the server answered ${status}, which is no answer of cosift`);
  }
}

/** A response that was not fetched. */
interface Failed {
  status: number;
  location: string | undefined;
  body: IncomingMessage;
}

function codeOf(code: string) {
  return isErrorCode(code) ? code : 'internal';
}
