import { CosiftError, type ProblemCode } from '../errors.js';
import { jsonDepth, LIMITS } from '../schema/limits.js';
import { isPlain, nameOf } from '../schema/plain.js';
import { escapeToken } from '../schema/pointer.js';

const MAX_DEPTH = jsonDepth(LIMITS);

/** Upper bounds of the bytes that JSON needs: an escaped character, a number, and any other value with its separator. */
const CHARACTER_BYTES = 6;
const NUMBER_BYTES = 26;
const VALUE_BYTES = 8;

/** A request that was checked. */
export interface CheckedRequest<T> {
  /** A copy, which the caller cannot change while the call runs. */
  request: T;
  /** An upper bound of the bytes of the request as JSON. */
  bytes: number;
}

/**
 * Checks that JSON can represent the values of a search, a query or a deletion: `JSON.stringify` writes NaN as null, a map
 * as an empty object, and fails for a `bigint`. Without it, a request would mean one thing in the library and another over
 * HTTP. What is nested deeper than a service allows is left to the check of the schema.
 *
 * @throws {CosiftError} `invalid_json` for half of a surrogate pair; for any other value `invalid_filter` if it is in the
 * filter, otherwise `invalid_request`.
 */
export function checkedRequest<T>(request: T): CheckedRequest<T> {
  const copy = new RequestCopy();
  return { request: copy.of(request, undefined, '') as T, bytes: copy.bytes };
}

/** An object or an array that is being copied. */
interface Parent {
  value: object;
  /** The name of the value in its own parent. */
  name: string | number;
  parent: Parent | undefined;
  depth: number;
}

/** Copies a request and checks it on the way. A pointer is made only for an error. */
class RequestCopy {
  bytes = 0;

  of(value: unknown, parent: Parent | undefined, name: string | number): unknown {
    switch (typeof value) {
      case 'string':
        if (!value.isWellFormed()) throw loneSurrogate(pointerOf(parent, name));
        this.bytes += CHARACTER_BYTES * value.length + VALUE_BYTES;
        return value;
      case 'number':
        if (!Number.isFinite(value)) {
          throw refused(pointerOf(parent, name), `is ${value}, must be a finite number`);
        }
        this.bytes += NUMBER_BYTES;
        return value;
      case 'boolean':
      case 'undefined':
        this.bytes += VALUE_BYTES;
        return value;
      case 'object': {
        this.bytes += VALUE_BYTES;
        const depth = parent === undefined ? 0 : parent.depth + 1;
        if (value === null || depth >= MAX_DEPTH) return value;
        return this.#ofObject(value, { value, name, parent, depth });
      }
      default:
        throw refused(pointerOf(parent, name), `is a ${typeof value}, which JSON cannot represent`);
    }
  }

  #ofObject(value: object, place: Parent): unknown {
    for (let above = place.parent; above !== undefined; above = above.parent) {
      if (above.value === value) throw refused(placeOf(place), 'contains itself');
    }
    if (Array.isArray(value) && !('toJSON' in value)) return this.#ofArray(value, place);
    if (value instanceof Date)
      throw refused(placeOf(place), 'is a Date, must be text: use its toISOString()');
    if (!isPlain(value)) throw refused(placeOf(place), `is ${nameOf(value)}, which JSON cannot represent`);
    const copy: Record<string, unknown> = {};
    for (const name of Object.keys(value)) {
      const member = value[name];
      if (member === undefined) continue;
      if (!name.isWellFormed()) throw loneSurrogate(placeOf(place));
      this.bytes += CHARACTER_BYTES * name.length + VALUE_BYTES;
      const own = this.of(member, place, name);
      if (name === '__proto__') Object.defineProperty(copy, name, { value: own, enumerable: true });
      else copy[name] = own;
    }
    return copy;
  }

  #ofArray(value: readonly unknown[], place: Parent): unknown[] {
    const copy = value.slice();
    // A loop without entries and a call for each number: a vector has thousands of them.
    for (let at = 0; at < copy.length; at++) {
      if (Number.isFinite(copy[at])) this.bytes += NUMBER_BYTES;
      else copy[at] = this.of(copy[at], place, at);
    }
    return copy;
  }
}

function placeOf({ parent, name }: Parent): string {
  return pointerOf(parent, name);
}

function pointerOf(parent: Parent | undefined, name: string | number): string {
  if (parent === undefined) return '';
  return `${placeOf(parent)}/${typeof name === 'string' ? escapeToken(name) : name}`;
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
