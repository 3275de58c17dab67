import { CosiftError, type ProblemCode } from '../errors.js';
import { jsonDepth, LIMITS } from '../schema/limits.js';
import { isPlain, nameOf } from '../schema/plain.js';
import { escapeToken } from '../schema/pointer.js';

const MAX_DEPTH = jsonDepth(LIMITS);

/** Upper bounds of the bytes that JSON needs: an escaped character, a number, and any other value with its separator. */
const CHARACTER_BYTES = 6;
const NUMBER_BYTES = 26;
const VALUE_BYTES = 8;

/**
 * Checks that JSON can represent the values of a search, a query or a deletion: `JSON.stringify` writes NaN as null, a map
 * as an empty object, and fails for a `bigint`. Without it, a request would mean one thing in the library and another over
 * HTTP. What is nested deeper than a service allows is left to the check of the schema.
 *
 * Returns an upper bound of the bytes of the request as JSON.
 *
 * @throws {CosiftError} `invalid_json` for half of a surrogate pair; for any other value `invalid_filter` if it is in the
 * filter, otherwise `invalid_request`.
 */
export function checkRequestValues(request: unknown): number {
  return bytesOf(request, '', []);
}

function bytesOf(value: unknown, pointer: string, parents: readonly object[]): number {
  switch (typeof value) {
    case 'string':
      if (!value.isWellFormed()) throw loneSurrogate(pointer);
      return CHARACTER_BYTES * value.length + VALUE_BYTES;
    case 'number':
      if (!Number.isFinite(value)) throw refused(pointer, `is ${value}, must be a finite number`);
      return NUMBER_BYTES;
    case 'boolean':
    case 'undefined':
      return VALUE_BYTES;
    case 'object':
      if (value === null || parents.length >= MAX_DEPTH) return VALUE_BYTES;
      return bytesOfObject(value, pointer, parents);
    default:
      throw refused(pointer, `is a ${typeof value}, which JSON cannot represent`);
  }
}

function bytesOfObject(value: object, pointer: string, parents: readonly object[]): number {
  if (parents.includes(value)) throw refused(pointer, 'contains itself');
  const within = [...parents, value];
  let bytes = VALUE_BYTES;
  if (Array.isArray(value) && !('toJSON' in value)) {
    // A loop without entries and pointers: a vector has thousands of values.
    for (let at = 0; at < value.length; at++) {
      if (Number.isFinite(value[at])) bytes += NUMBER_BYTES;
      else bytes += bytesOf(value[at], `${pointer}/${at}`, within);
    }
    return bytes;
  }
  if (value instanceof Date) throw refused(pointer, 'is a Date, must be text: use its toISOString()');
  if (!isPlain(value)) throw refused(pointer, `is ${nameOf(value)}, which JSON cannot represent`);
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    if (!name.isWellFormed()) throw loneSurrogate(pointer);
    bytes += CHARACTER_BYTES * name.length + VALUE_BYTES;
    bytes += bytesOf(member, `${pointer}/${escapeToken(name)}`, within);
  }
  return bytes;
}

function refused(pointer: string, detail: string): CosiftError {
  const code = /^\/filter(\/|$)/.test(pointer) ? 'invalid_filter' : 'invalid_request';
  return problemAt(code, pointer, 'wrong_type', detail);
}

/** For the name of a member, `pointer` leads to its object, as the error of a service does. */
function loneSurrogate(pointer: string): CosiftError {
  return problemAt('invalid_json', pointer, 'lone_surrogate', 'half of a surrogate pair');
}

function problemAt(
  error: 'invalid_json' | 'invalid_filter' | 'invalid_request',
  pointer: string,
  code: ProblemCode,
  detail: string,
): CosiftError {
  const where = pointer === '' && error !== 'invalid_json' ? 'the body ' : `${pointer}: `;
  return new CosiftError(error, where + detail, { problems: [{ pointer, code, detail }] });
}
