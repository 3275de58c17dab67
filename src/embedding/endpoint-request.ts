import { LinkedAbort } from '../async/linked-abort.js';
import { backoffMs, sleep } from '../async/sleep.js';
import type { Endpoint } from '../config/index.js';
import { CosiftError } from '../errors.js';
import type { TextKind } from './job.js';

/** How long the requests of one slice of texts may take. */
export interface RequestTimes {
  /** Maximum time of one attempt in milliseconds. */
  attemptMs: number;
  /** Milliseconds after which no further attempt begins. */
  totalMs: number;
  /** Pause before the second attempt in milliseconds; it doubles with each attempt. */
  pauseMs: number;
}

/** Times of texts, and of the first text that an endpoint gets. */
export type EndpointTimes = Readonly<Record<TextKind | 'probe', RequestTimes>>;

/**
 * A local server may load the model at the first text. Somebody waits for the vector of a query, and a failed import has
 * to begin again.
 */
export const TIMES: EndpointTimes = {
  probe: { attemptMs: 60_000, totalMs: 15_000, pauseMs: 250 },
  query: { attemptMs: 25_000, totalMs: 15_000, pauseMs: 250 },
  passage: { attemptMs: 60_000, totalMs: 180_000, pauseMs: 250 },
};

const MAX_PAUSE_MS = 15_000;

/** Maximum size of a response: a fixed part, and a part for each value of a vector. */
const FIXED_BYTES = 65_536;
const VALUE_BYTES = 32;
const MAX_DIMENSIONS = 4_096;

/** Maximum size of an error response that is read, and of what is shown of it. */
const ERROR_BYTES = 16_384;
const SHOWN_CHARACTERS = 200;

/** The characters of a part of the key that is not shown. A shorter part may be a word of the message. */
const KEY_PART = 6;

/** A failure, and whether another attempt may succeed. */
class AttemptError extends Error {
  readonly retryAfterMs: number | undefined;

  constructor(message: string, retryAfterMs?: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Posts texts to an endpoint and returns the vectors in the order of the texts; their values are not checked.
 *
 * After status 408, 429, 5xx, a lost connection or a timeout it tries again, after a random pause or as `Retry-After`
 * asks.
 *
 * @throws {CosiftError} `model_unavailable`; `invalid_request` when the endpoint refuses the texts; the signal's reason.
 */
export async function postTexts(
  endpoint: Endpoint,
  key: string | undefined,
  texts: readonly string[],
  { attemptMs, totalMs, pauseMs }: RequestTimes,
  signal: AbortSignal,
): Promise<unknown[]> {
  const deadline = performance.now() + totalMs;
  for (let attempt = 0; ; attempt++) {
    try {
      return await attemptOnce(endpoint, key, texts, attemptMs, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof AttemptError)) throw error;
      const pause = Math.max(backoffMs(attempt, pauseMs, MAX_PAUSE_MS), error.retryAfterMs ?? 0);
      if (performance.now() + pause > deadline) {
        throw new CosiftError('model_unavailable', `${error.message}; attempts: ${attempt + 1}`, {
          cause: error.cause,
        });
      }
      await sleep(pause, signal);
    }
  }
}

/** Throws an {@link AttemptError} when another attempt may succeed. */
async function attemptOnce(
  endpoint: Endpoint,
  key: string | undefined,
  texts: readonly string[],
  attemptMs: number,
  signal: AbortSignal,
): Promise<unknown[]> {
  const { url, model, dimensions } = endpoint;
  using stop = new LinkedAbort(signal);
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    stop.abort();
  }, attemptMs);
  try {
    const response = await fetch(url, {
      method: 'POST',
      // A redirect would send the texts and the key to another address.
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({
        model,
        input: texts,
        encoding_format: 'float',
        ...(dimensions !== undefined && { dimensions }),
      }),
      signal: stop.signal,
    });
    if (!response.ok) throw await refusal(response, endpoint, key);
    const maxBytes = FIXED_BYTES + texts.length * (dimensions ?? MAX_DIMENSIONS) * VALUE_BYTES;
    return vectorsOf(await textOf(response, maxBytes), texts.length, url);
  } catch (error) {
    if (error instanceof CosiftError || error instanceof AttemptError) throw error;
    if (timedOut) throw new AttemptError(`${url} did not respond within ${attemptMs / 1000} s`);
    const { code, message } = ((error as Error).cause ?? error) as NodeJS.ErrnoException;
    throw new AttemptError(
      `${url} cannot be reached (${code ?? message}); check the address, and whether it runs`,
    );
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the error of a response with another status than 2xx. */
async function refusal(
  response: Response,
  { url, model }: Endpoint,
  key: string | undefined,
): Promise<Error> {
  const { status, headers } = response;
  if (status === 408 || status === 429 || status >= 500) {
    await response.body?.cancel();
    const hint = status === 429 ? '; it limits the rate of requests, or the quota is used up' : '';
    return new AttemptError(`${url} responds with status ${status}${hint}`, retryAfterMs(headers));
  }
  if (status === 401 || status === 403) {
    // Not the body, because some services repeat a part of the key in it.
    await response.body?.cancel();
    const fix = key === undefined ? 'name an API key by key_env or key_file' : 'check the API key';
    return new CosiftError('model_unavailable', `${url} refuses access (status ${status}): ${fix}`);
  }
  if (status >= 300 && status < 400) {
    await response.body?.cancel();
    return new CosiftError(
      'model_unavailable',
      `${url} responds with a redirect (status ${status}), which is not followed: give the address it leads to`,
    );
  }
  const said = reasonOf(await textOf(response, ERROR_BYTES).catch(() => ''), key);
  if (status === 400 || status === 413 || status === 422) {
    return new CosiftError(
      'invalid_request',
      `${url} refuses them (status ${status})${said}; a text may be longer than the model "${model}" takes`,
    );
  }
  return new CosiftError(
    'model_unavailable',
    `${url} responds with status ${status}${said}: check the address and the name of the model, "${model}"`,
  );
}

/** The message of an error response, without the key and control characters. */
function reasonOf(body: string, key: string | undefined): string {
  let message: unknown;
  try {
    const { error, detail } = JSON.parse(body);
    message = error?.message ?? error ?? detail;
  } catch {
    return '';
  }
  if (typeof message !== 'string') return '';
  const shown = (key === undefined ? message : withoutKey(message, key)).replaceAll(/\p{C}+/gu, ' ');
  return `: ${shown.length > SHOWN_CHARACTERS ? `${shown.slice(0, SHOWN_CHARACTERS)}…` : shown}`;
}

/** A text without the key, and without the parts of it that a service shows so that its owner recognises it. */
function withoutKey(text: string, key: string): string {
  let shown = '';
  for (let at = 0; at < text.length; ) {
    let end = at;
    while (end < text.length && key.includes(text.slice(at, end + 1))) end += 1;
    const isKey = end - at >= Math.min(key.length, KEY_PART);
    shown += isKey ? '…' : text[at]!;
    at = isKey ? end : at + 1;
  }
  return shown;
}

/** The pause that a response asks for: seconds or a date. */
function retryAfterMs(headers: Headers): number | undefined {
  const value = headers.get('retry-after');
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? ms : undefined;
}

async function textOf(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      throw new CosiftError('model_unavailable', `${response.url} responds with more than ${maxBytes} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Returns the vectors of a response in the order of the texts. */
function vectorsOf(body: string, count: number, url: string): unknown[] {
  const invalid = (reason: string) =>
    new CosiftError('model_unavailable', `${url} does not respond as an embeddings API does: ${reason}`);
  let data: unknown;
  try {
    ({ data } = JSON.parse(body));
  } catch {
    throw invalid('the response is not JSON');
  }
  if (!Array.isArray(data) || data.length !== count) throw invalid(`"data" must have ${count} vectors`);
  const vectors = new Map(data.map((entry) => [entry?.index, entry?.embedding]));
  return Array.from({ length: count }, (_, index) => {
    const vector = vectors.get(index);
    if (!Array.isArray(vector)) throw invalid(`"data" has no vector with index ${index}`);
    return vector;
  });
}
