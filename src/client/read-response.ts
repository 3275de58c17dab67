import { CosiftError, type ErrorFields, isErrorCode } from '../errors.js';
import type { DoctorCheck, LineEvent, LineFailure, ProblemBody } from '../schema/public-types.js';
import { hasShape, isEvent, isProblem, SHAPES, type Shape } from './response-shapes.js';

/** Maximum bytes of a response, and of a response that reports a failure. */
export const MAX_BYTES = 256 << 20;
export const MAX_FAILURE_BYTES = 4 << 20;

/** Yields the chunks of a body. Not every browser can iterate over a stream with `for await`. */
export async function* chunksOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  if (reader === undefined) return;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // Frees the connection of a body that was not read to its end. Not awaited: a broken body may never answer.
    reader.cancel().catch(() => undefined);
  }
}

/** Reads a whole body as text. Throws for a body that is longer than `maxBytes`. */
export async function textOf(chunks: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let text = '';
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLong('the response', maxBytes);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

export function tooLong(what: string, maxBytes: number): CosiftError {
  return new CosiftError('internal', `${what} has more than ${maxBytes} bytes`);
}

/** Parses a response of the service at `url` and checks its shape. */
export function parseResponse(text: string, shape: Shape, url: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new CosiftError('internal', `the response of ${url} is not JSON`, { cause });
  }
  if (!hasShape(value, shape)) throw notFromCosift(url);
  return value;
}

/** Parses a line of the response to a stream of records. Throws the error that the line reports, if any. */
export function parseEvent(line: string, url: string): LineEvent {
  let event: LineEvent | LineFailure;
  try {
    event = JSON.parse(line);
  } catch (cause) {
    throw notFromCosift(url, cause);
  }
  if (!isEvent(event)) throw notFromCosift(url);
  if (event.type === 'error') {
    const { type, code, detail, ...fields } = event;
    throw new CosiftError(isErrorCode(code) ? code : 'internal', detail, { fields });
  }
  return event;
}

/** Parses a line of the response of the doctor. Throws the error that the line reports, if any. */
export function parseCheck(line: string): DoctorCheck {
  const check = parseResponse(line, {}, 'the service') as DoctorCheck & { error?: Partial<LineFailure> };
  if (check.error !== undefined) {
    const { code = '', detail = '', request_id } = check.error;
    throw new CosiftError(isErrorCode(code) ? code : 'internal', detail, { fields: { request_id } });
  }
  if (!hasShape(check, SHAPES.check)) throw notFromCosift('the service');
  return check;
}

function notFromCosift(url: string, cause?: unknown): CosiftError {
  return new CosiftError('internal', `the response of ${url} is not a cosift response`, { cause });
}

/** Returns the error that a response with the status of a failure or a redirect reports. */
export function failureOf(
  status: number,
  location: string | null | undefined,
  text: string,
  retryAfter?: string | undefined,
): CosiftError {
  const seconds = Number(retryAfter ?? Number.NaN);
  const wait = Number.isFinite(seconds) ? { retry_after: seconds } : {};
  let problem: unknown;
  try {
    problem = JSON.parse(text);
  } catch {
    // The response comes from a proxy or another server.
  }
  if (isProblem(problem)) return errorOfProblem(problem as ProblemBody, wait);
  // A browser shows nothing of a redirect, not even its status.
  if (status === 0 || (status >= 300 && status < 400)) {
    const detail = `the server redirects to ${location ?? 'another address'}, which is not followed: use that address`;
    return new CosiftError('internal', detail);
  }
  return new CosiftError('internal', `the server answered ${status}, which is not a cosift response`, {
    fields: { status, body: text.slice(0, 200), ...wait },
  });
}

/** Returns the error that a problem reports, with further fields. */
export function errorOfProblem(problem: ProblemBody, further: ErrorFields = {}): CosiftError {
  // What is not for people is a fact: `request_id` and the facts of the code.
  const { type, title, status, code, detail, errors = [], ...fields } = problem;
  return new CosiftError(isErrorCode(code) ? code : 'internal', detail, {
    problems: errors,
    fields: { ...fields, ...further },
  });
}
