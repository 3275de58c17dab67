import { CosiftError, type ErrorCode, isErrorCode } from '../errors.js';
import type { ProblemBody } from '../schema/index.js';
import { checkOptions } from '../schema/options.js';
import { unreachable } from '../unreachable.js';

export interface ClientOptions {
  /** Where the service is: `http://127.0.0.1:8080`. */
  url: string;
  /** The value of `x-api-key`. */
  key: string;
  /** Further tries after 429, 503 or a lost connection. Default 4. */
  retries?: number;
  /** Longest time that a `Retry-After` is waited for, in milliseconds. Default 60,000. */
  maxWaitMs?: number;
  /** Instead of the global `fetch`. */
  fetch?: typeof fetch;
}

export interface CallOptions {
  signal?: AbortSignal;
}

/** Codes of an operation that may have been carried out although it failed. */
const MAY_BE_DONE: ReadonlySet<ErrorCode> = new Set(['timed_out']);

/** Paths that give out a key or a webhook, with its secret, at each `POST`. */
const MAKES_SECRET = /^\/keys$|\/webhooks$/;

/** Sends requests, tries again when told to, and turns problems into errors. */
export class Transport {
  readonly #base: string;
  readonly #key: string;
  readonly #retries: number;
  readonly #maxWaitMs: number;
  readonly #fetch: typeof fetch;

  constructor({ url, key, retries = 4, maxWaitMs = 60_000, fetch: own = fetch }: ClientOptions) {
    this.#base = `${url.replace(/\/+$/, '')}/v1`;
    this.#key = key;
    this.#retries = retries;
    this.#maxWaitMs = maxWaitMs;
    this.#fetch = own;
  }

  /**
   * The JSON of the answer; undefined where it has no body.
   *
   * @throws {CosiftError} with the code, detail and problems of the service; `unreachable` when it gave no response.
   */
  async call<T>(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<T> {
    checkOptions('call', options);
    const { signal } = options;
    const json = body === undefined ? undefined : jsonOf(body);
    let mayBeDone = false;
    for (let attempt = 0; ; attempt++) {
      const last = attempt >= this.#retries;
      let response: Response;
      let text: string;
      try {
        response = await this.#send(method, path, json, signal);
        text = await response.text();
      } catch (error) {
        if (signal?.aborted) throw error;
        mayBeDone = true;
        // What makes a new secret may have been done; every other operation then finds its work done.
        const makesSecret = method === 'POST' && MAKES_SECRET.test(path);
        if (last || makesSecret) throw unreachable(this.#base, error);
        await wait(backoffMs(attempt), signal);
        continue;
      }
      if (response.ok) return (response.status === 204 ? undefined : this.#parse(text)) as T;
      const error = errorOf(response, text);
      // An earlier try has deleted it.
      if (mayBeDone && method === 'DELETE' && error.code.endsWith('_not_found')) return undefined as T;
      mayBeDone ||= MAY_BE_DONE.has(error.code);
      const waitMs = retryMs(response, attempt);
      if (last || waitMs === undefined || waitMs > this.#maxWaitMs) throw error;
      await wait(waitMs, signal);
    }
  }

  #parse(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch (cause) {
      throw new CosiftError('internal', `the response of ${this.#base} is not JSON`, { cause });
    }
  }

  #send(
    method: string,
    path: string,
    body: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    return this.#fetch(this.#base + path, {
      method,
      // A redirect would take the key to another address.
      redirect: 'manual',
      headers: {
        'x-api-key': this.#key,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    });
  }
}

function jsonOf(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch (cause) {
    const [reason] = String((cause as Error).message).split('\n');
    throw new CosiftError('invalid_request', `the request cannot be written as JSON: ${reason}`, { cause });
  }
}

/** When to try again; undefined when another try cannot help. */
function retryMs({ status, headers }: Response, attempt: number): number | undefined {
  if (status !== 429 && status !== 503) return undefined;
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds * 1000 : backoffMs(attempt);
}

/** Doubles from 200 ms; a random half keeps many clients from coming back together. */
function backoffMs(attempt: number): number {
  return 200 * 2 ** attempt * (0.5 + Math.random() / 2);
}

function errorOf({ status, headers }: Response, text: string): CosiftError {
  try {
    const { code, detail, errors = [], request_id } = JSON.parse(text) as ProblemBody;
    if (isErrorCode(code)) return new CosiftError(code, detail, { problems: errors, fields: { request_id } });
  } catch {
    // Not from the service: a proxy, or another server.
  }
  if (status < 400) {
    const target = headers.get('location') ?? 'another address';
    return new CosiftError(
      'internal',
      `the response is a redirect to ${target}, which is not followed: use that address`,
    );
  }
  return new CosiftError('internal', `the answer was ${status} ${text.slice(0, 200)}`);
}

function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}
