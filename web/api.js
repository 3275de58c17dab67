/** Why a request failed: what the service says, or that there is no response. */
export class Failure extends Error {
  /** @param {{ status?: number, code: string, detail: string, errors?: {pointer: string, detail: string}[], retrySeconds?: number }} facts */
  constructor({ status = 0, code, detail, errors = [], retrySeconds }) {
    super(detail);
    this.status = status;
    this.code = code;
    this.errors = errors;
    this.retrySeconds = retrySeconds;
  }
}

/** The code of a request without a response. */
export const UNREACHABLE = 'unreachable';

/** Records have both ids, and one set of names. */
const ACCEPT = 'application/vnd.cosift+json, */*';

/** How often a request is sent before its failure is shown. */
const ATTEMPTS = 5;

/**
 * Sends a request of the API. Paths are relative to the page, because a proxy may serve it below a path of its own.
 *
 * @throws {Failure} for a response that is no success, and for a request without a response.
 */
export async function send(method, path, { key, body, type = 'application/json', signal } = {}) {
  const headers = { accept: ACCEPT };
  if (key !== undefined) headers['x-api-key'] = key;
  if (body !== undefined) headers['content-type'] = type;
  const address = new URL(path, document.baseURI);
  const response = await fetch(address, { method, headers, body, signal }).catch(unreachable(signal));
  if (!response.ok) throw await failureOf(response);
  return response;
}

/** Sends a request with a JSON body, and returns the JSON of the response. */
export async function sendJson(method, path, { body, ...options } = {}) {
  const response = await send(method, path, {
    ...options,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return response.status === 204 ? undefined : jsonOf(response, options.signal);
}

/** Sends a search, a query or a map of a database. */
export const ask = (database, operation, options) =>
  sendJson('POST', databasePath(database, `/${operation}`), options);

/** Repeats `request`, which may be sent twice, while the service is busy or does not respond. */
export async function untilAnswered(signal, request) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await request();
    } catch (failure) {
      const isPassing = failure.code === UNREACHABLE || failure.status === 503 || failure.status === 429;
      if (!isPassing || attempt === ATTEMPTS) throw failure;
      await pause((failure.retrySeconds ?? attempt) * 1000, signal);
    }
  }
}

function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}

/** Reads the JSON of a response. The connection may end in the middle of it. */
export function jsonOf(response, signal) {
  return response.json().catch(unreachable(signal));
}

function unreachable(signal) {
  return (error) => {
    if (signal?.aborted) throw error;
    throw new Failure({ code: UNREACHABLE, detail: 'The service does not respond.' });
  };
}

export function databasePath(database, rest = '') {
  return `v1/databases/${encodeURIComponent(database)}${rest}`;
}

async function failureOf(response) {
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  const retrySeconds = Number.isFinite(retryAfter) ? retryAfter : undefined;
  const { status } = response;
  try {
    const { code, detail, errors } = await response.json();
    if (typeof code === 'string') return new Failure({ status, code, detail, errors, retrySeconds });
  } catch {
    // A proxy may respond with a page of its own.
  }
  return new Failure({
    status,
    code: 'internal',
    detail: `The response has status ${status}.`,
    retrySeconds,
  });
}
