import { countingBytes } from '../api/counting-bytes.js';
import type { BackupOptions, CallOptions } from '../api/index.js';
import { CallTracker } from '../async/call-tracker.js';
import { LinkedAbort } from '../async/linked-abort.js';
import { sleep } from '../async/sleep.js';
import { untilAborted } from '../async/until-aborted.js';
import { CosiftError, type ErrorCode } from '../errors.js';
import { checkOptions } from '../schema/options.js';
import type { LineEvent } from '../schema/public-types.js';
import { Attempts } from './attempts.js';
import { sendLines } from './line-stream.js';
import { chunksOf, failureOf, MAX_BYTES, parseResponse, textOf } from './read-response.js';
import { RequestLimits } from './request-limits.js';
import type { Shape } from './response-shapes.js';
import { unreachable } from './unreachable.js';

/** Asks for records with both ids; other responses have their own types. */
const ACCEPT = 'application/vnd.cosift+json, */*';

/** Options of a client. */
export interface ClientOptions {
  /** Address of the service, such as `http://127.0.0.1:8080`. */
  url: string;
  /** The value of `x-api-key`. */
  key: string;
  /**
   * Maximum number of further attempts after a lost connection, and after a failure with status 503. Default: 4. With 0,
   * no request is sent again. An upsert or a patch with a condition is not sent again after them, because the first attempt
   * may have been carried out.
   */
  retries?: number | undefined;
  /**
   * How long a call tries again as `Retry-After` asks while the service refuses it with `busy`, `rate_limited` or
   * `not_ready`, in milliseconds. Default: until the signal of the call is aborted; 60,000 for a call without a signal, and
   * for `not_ready`. `retries` applies to `busy` where the call creates a key or a webhook: there may be too many of them.
   */
  maxWaitMs?: number | undefined;
  /** Used in place of the global `fetch`. Streams of lines do not use it. */
  fetch?: typeof fetch | undefined;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

interface StoppableCall extends CallOptions {
  /** Ends the call as `signal` does, which is that of the caller. */
  stop?: AbortSignal | undefined;
  /** Whether the request has a condition: it is then only sent again where it was refused. */
  isConditional?: boolean | undefined;
}

/** Sends a request with a body that is JSON already, if it has one. */
export type Send = <T>(
  method: Method,
  path: string,
  shape: Shape,
  json: string | undefined,
  options: StoppableCall,
) => Promise<T>;

/** A request that is sent until it has a response. */
interface Attempted {
  method: Method;
  path: string;
  json: string | undefined;
  /** Ends the attempts. */
  signal: AbortSignal | undefined;
  /** Whether the caller gave a signal. */
  hasSignal: boolean;
  isConditional?: boolean | undefined;
}

/** Codes of an operation that may have been carried out although it failed. */
const MAY_BE_DONE: ReadonlySet<ErrorCode> = new Set(['timed_out']);

/** Paths at which each `POST` creates a key or a webhook with a secret. */
const CREATES_SECRET = /^\/keys$|\/webhooks$/;

/** Sends requests, repeats them where that helps, checks responses, and turns problems into errors. */
export class Transport {
  readonly #base: string;
  readonly #key: string;
  readonly #retries: number;
  readonly #maxWaitMs: number | undefined;
  readonly #fetch: typeof fetch;
  readonly #limits = new RequestLimits();
  readonly #calls = new CallTracker('the client');
  #closed: Promise<void> | undefined;

  constructor({ url, key, retries = 4, maxWaitMs, fetch }: ClientOptions) {
    this.#base = `${url.replace(/\/+$/, '')}/v1`;
    this.#key = key;
    this.#retries = retries;
    this.#maxWaitMs = maxWaitMs;
    // A browser refuses a `fetch` that is called as a method of another object.
    this.#fetch = (input, init) => (fetch ?? globalThis.fetch)(input, init);
  }

  /**
   * Sends a request whose response is JSON of a shape. The members that `shape` lacks are not checked.
   *
   * @throws {CosiftError} with the code, detail and problems of the service; `unreachable` when it gave no response;
   * `internal` when the response is not from cosift.
   */
  async json<T>(
    method: Method,
    path: string,
    shape: Shape,
    body?: unknown,
    options?: CallOptions,
  ): Promise<T> {
    checkOptions('call', options === undefined ? {} : options);
    return this.send(method, path, shape, body, options);
  }

  /** As {@link json}, with options that are checked. */
  send<T>(method: Method, path: string, shape: Shape, body: unknown, options?: StoppableCall): Promise<T> {
    return this.#calls.run(() => this.#json(method, path, shape, JSON.stringify(body), options));
  }

  /** Returns the text of a response, whose shape is checked. Fails as {@link json} does. */
  async text(method: Method, path: string, shape: Shape, body?: unknown): Promise<string> {
    return this.#calls.run(async () => {
      const text = await this.#call(method, path, JSON.stringify(body));
      parseResponse(text, shape, this.#base);
      return text;
    });
  }

  /** Deletes what is at a path. Fails as {@link json} does. */
  async delete(path: string, options?: CallOptions): Promise<void> {
    checkOptions('call', options === undefined ? {} : options);
    await this.#calls.run(() => this.#call('DELETE', path, undefined, options));
  }

  /**
   * Runs a call that consists of several requests. A close waits for it, and `send` sends its requests even after the
   * close has begun. Fails as {@link json} does.
   */
  run<T>(call: (send: Send) => Promise<T>): Promise<T> {
    return this.#calls.run(() =>
      call((method, path, shape, json, options) => this.#json(method, path, shape, json, options)),
    );
  }

  /** Aborted once {@link close} was called. */
  get closing(): AbortSignal {
    return this.#calls.closing;
  }

  /** Returns the items of `source`; an asynchronous source fails with `not_ready` once {@link close} was called. */
  untilClosing<R>(source: Iterable<R> | AsyncIterable<R>): Iterable<R> | AsyncIterable<R> {
    return this.#calls.untilClosing(source);
  }

  /** Refuses further calls, and resolves once those in progress have ended. They are not repeated after a failure. */
  close(): Promise<void> {
    this.#closed ??= this.#calls.close();
    return this.#closed;
  }

  /** Sends NDJSON once and yields the events of the response. Fails as {@link json} does. */
  async *lines(
    method: 'POST' | 'PUT',
    path: string,
    chunks: AsyncIterable<Uint8Array>,
    options: CallOptions = {},
  ): AsyncGenerator<LineEvent, void, undefined> {
    checkOptions('call', options);
    const bytes = untilAborted(chunks, this.closing);
    yield* this.#calls.runToEnd(() =>
      sendLines({ method, url: this.#base + path, key: this.#key }, bytes, options.signal),
    );
  }

  /**
   * Yields the body of a response as it arrives. Only its beginning is tried again. Fails as {@link json} does;
   * `unreachable` when the connection ends before the response, `not_ready` when a close begins.
   * `onProgress` needs a response that says how long it is.
   */
  async *bytes(
    method: 'GET' | 'POST',
    path: string,
    { signal }: CallOptions = {},
    onProgress?: BackupOptions['onProgress'],
  ): AsyncGenerator<Uint8Array, void, undefined> {
    // A close does not wait for what nobody may be reading: it ends the response.
    this.closing.throwIfAborted();
    const stop = new LinkedAbort(this.closing, signal);
    try {
      const response = await this.#attempt(
        { method, path, json: undefined, signal: stop.signal, hasSignal: signal !== undefined },
        async (response) => response,
        (exchange) => exchange(),
      );
      const chunks = chunksOf(response?.body ?? null);
      const length = response?.headers.get('content-length') ?? null;
      yield* length === null ? chunks : countingBytes(chunks, Number(length), onProgress);
    } catch (error) {
      stop.signal.throwIfAborted();
      throw error instanceof CosiftError ? error : unreachable(this.#base, error);
    } finally {
      stop.unlink();
    }
  }

  async #json<T>(
    method: Method,
    path: string,
    shape: Shape,
    json: string | undefined,
    options?: StoppableCall,
  ): Promise<T> {
    return parseResponse(await this.#call(method, path, json, options), shape, this.#base) as T;
  }

  /** Returns the body of the response; '' when an earlier attempt may have deleted what is no longer found. */
  async #call(
    method: Method,
    path: string,
    json: string | undefined,
    { signal: given, stop, isConditional }: StoppableCall = {},
  ): Promise<string> {
    const read = ({ body }: Response) => textOf(chunksOf(body), MAX_BYTES);
    // Node warns of more than 1,500 calls with the same signal if `fetch` gets that signal itself.
    const linked = given === undefined && stop === undefined ? undefined : new LinkedAbort(given, stop);
    const signal = linked?.signal;
    const inTurn = <R>(exchange: () => Promise<R>) => this.#limits.run(method, path, signal, exchange);
    try {
      const request = { method, path, json, signal, hasSignal: given !== undefined, isConditional };
      return (await this.#attempt(request, read, inTurn)) ?? '';
    } finally {
      linked?.unlink();
    }
  }

  /**
   * Sends a request until it has a response, and reads a successful one by `read`. Returns undefined when an earlier attempt may
   * have deleted what is no longer found. `run` runs each attempt.
   */
  async #attempt<T>(
    { method, path, json, signal, hasSignal, isConditional }: Attempted,
    read: (response: Response) => Promise<T>,
    run: <R>(exchange: () => Promise<R>) => Promise<R>,
  ): Promise<T | undefined> {
    const createsSecret = method === 'POST' && CREATES_SECRET.test(path);
    const limits = { retries: this.#retries, maxWaitMs: this.#maxWaitMs };
    const attempts = new Attempts({ ...limits, hasSignal, createsSecret, isConditional });
    let mayBeDone = false;
    for (;;) {
      let outcome: { value: T } | { response: Response; text: string };
      try {
        outcome = await run(async () => {
          const response = await this.#send(method, path, json, signal);
          if (response.ok) return { value: await read(response) };
          return { response, text: await textOf(chunksOf(response.body), MAX_BYTES) };
        });
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof CosiftError) throw error;
        mayBeDone = true;
        await this.#pause(attempts.afterLoss(), unreachable(this.#base, error), signal);
        continue;
      }
      if ('value' in outcome) return outcome.value;
      const { response, text } = outcome;
      const { status, headers } = response;
      const error = failureOf(status, headers.get('location'), text, headers.get('retry-after') ?? undefined);
      if (mayBeDone && method === 'DELETE' && error.code.endsWith('_not_found')) return undefined;
      mayBeDone ||= MAY_BE_DONE.has(error.code);
      await this.#pause(attempts.afterResponse(response, error), error, signal);
    }
  }

  /** Waits before another attempt. Throws the failure of the last one if there is none, or once the close has begun. */
  async #pause(ms: number | undefined, failure: CosiftError, signal: AbortSignal | undefined): Promise<void> {
    if (ms === undefined) throw failure;
    try {
      await sleep(ms, signal, this.closing);
    } catch (reason) {
      throw signal?.aborted ? reason : failure;
    }
  }

  #send(
    method: Method,
    path: string,
    body: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    return this.#fetch(this.#base + path, {
      method,
      // A redirect would send the key to another address.
      redirect: 'manual',
      headers: {
        'x-api-key': this.#key,
        accept: ACCEPT,
        // To compress a page takes longer than to send it within a network. Browsers ignore this.
        'accept-encoding': 'identity',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    });
  }
}
