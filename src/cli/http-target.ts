import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { createInterface } from 'node:readline';
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
import type { Target } from './target.js';

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
      if (found.ok) return;
      if (found.status !== 404) throw await failureOf(found);
    }
    await this.json('PUT', `/databases/${id}`, settings);
  }

  async search(id: string, request: SearchRequest): Promise<PageB> {
    return (await this.json('POST', `/databases/${id}/search`, request)) as PageB;
  }

  reembedder(id: string): Reembedder {
    const path = `/databases/${id}/reembedding`;
    return {
      start: async (model) => (await this.json('POST', path, { model })) as Reembedding,
      read: async () => (await this.json('GET', path)) as Reembedding,
      describe: async () => (await this.json('GET', `/databases/${id}`)) as DatabaseDescription,
      cancel: async () => void (await this.json('DELETE', path)),
    };
  }

  /** The answer's JSON, undefined where it has no body. */
  async json(method: string, path: string, body?: unknown): Promise<unknown> {
    const answer = await this.#fetch(method, path, body);
    if (!answer.ok) throw await failureOf(answer);
    if (answer.status === 204) return undefined;
    const text = await answer.text().catch(this.#unreachable);
    try {
      return JSON.parse(text);
    } catch (cause) {
      throw new CosiftError('internal', `the response of ${this.#base} is not JSON`, { cause });
    }
  }

  async close(): Promise<void> {}

  async upsert(id: string, records: readonly object[]): Promise<BatchResult> {
    return (await this.json('POST', `/databases/${id}/records`, { records })) as BatchResult;
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
    });
    // A server that refuses closes the request early: its answer tells more than the broken pipe.
    const sent = pipeline(Readable.from(chunks), request).catch((error: Error) => error);
    const answer = await answered.catch(this.#unreachable);
    if (answer.statusCode !== 200) {
      throw await failureOf(
        new Response(Readable.toWeb(answer) as ReadableStream, { status: answer.statusCode }),
      );
    }
    let ended = false;
    // A line that was cut off is followed by the error of the connection.
    let cutOff: unknown;
    for await (const line of unlessBroken(answer, this.#unreachable)) {
      if (cutOff !== undefined) break;
      let event: LineEvent | LineFailure;
      try {
        event = JSON.parse(line);
      } catch (cause) {
        cutOff = cause;
        continue;
      }
      if (event.type === 'error') throw new CosiftError(codeOf(event.code), event.detail);
      ended = event.type === 'summary';
      yield event;
    }
    if (cutOff !== undefined) {
      throw new CosiftError('internal', `the response of ${this.#base} is not JSON`, { cause: cutOff });
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
}

/** The lines of a response. What breaks the connection is passed to `broken`, which throws. */
async function* unlessBroken(answer: IncomingMessage, broken: (error: unknown) => never) {
  try {
    yield* createInterface({ input: answer, crlfDelay: Number.POSITIVE_INFINITY });
  } catch (error) {
    broken(error);
  }
}

async function failureOf(answer: Response): Promise<CosiftError> {
  const text = await answer.text();
  try {
    const problem = JSON.parse(text) as ProblemBody;
    return new CosiftError(codeOf(problem.code), problem.detail ?? problem.title, {
      problems: problem.errors,
    });
  } catch {
    if (answer.status >= 300 && answer.status < 400) {
      const target = answer.headers.get('location') ?? 'another address';
      return new CosiftError(
        'internal',
        `the server redirects to ${target}, which is not followed: use that address`,
      );
    }
    return new CosiftError('internal', `the server answered ${answer.status}, which is no answer of cosift`);
  }
}

function codeOf(code: string) {
  return isErrorCode(code) ? code : 'internal';
}
