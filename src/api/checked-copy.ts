import { CosiftError, type ErrorCode, type Problem, type ProblemCode } from '../errors.js';
import { jsonDepth } from '../schema/limits.js';
import { codeByPlace, escapeToken, isPlain, nameOf } from '../schema/plain.js';

const MAX_DEPTH = jsonDepth();

/** Maximum number of problems that an error reports. */
const MAX_PROBLEMS = 100;

/** Upper bounds of the bytes that JSON needs: an escaped character, a number, and any other value with its separator. */
const CHARACTER_BYTES = 6;
const NUMBER_BYTES = 26;
const VALUE_BYTES = 8;

export interface CheckedRequest<T> {
  /** A copy, which the caller cannot change while the call runs. */
  request: T;
  /** An upper bound of the bytes of the request as JSON. */
  bytes: number;
}

/**
 * Copies a request and checks that JSON can represent its values. `whole` names the request in errors. Everything else is
 * left to the check of the schema.
 *
 * @throws {CosiftError} `invalid_json` for half of a surrogate pair; for other values `invalid_filter` if all are in the
 * filter, otherwise `invalid_request`.
 */
export function checkedRequest<T>(request: T, whole: string, codeOf = codeByPlace): CheckedRequest<T> {
  const copy = new CheckedCopy();
  const value = copy.of(request, undefined, '') as T;
  copy.throwIfWrong(whole, codeOf);
  return { request: value, bytes: copy.bytes };
}

/** An object or an array that is being copied. */
export interface Parent {
  value: object;
  /** The name of the value in its own parent. */
  name: string | number;
  parent: Parent | undefined;
  depth: number;
}

/**
 * Copies arguments, so that the caller may change them while the call runs, and collects the values that JSON cannot
 * represent: `JSON.stringify` writes NaN as null, a date as text, a map as an empty object, and fails for a `bigint`.
 * Each value is read once, because a getter may return something else the next time. A member that is undefined is left
 * out. A typed array becomes an array of numbers.
 */
export class CheckedCopy {
  readonly #problems: Problem[] = [];
  /** An upper bound of the bytes of all copies as JSON. */
  bytes = 0;

  /** Whether JSON can represent everything so far. */
  get isRight(): boolean {
    return this.#problems.length === 0;
  }

  /**
   * `whole` names the copied value in errors.
   *
   * @throws {CosiftError} with a pointer to each value that is wrong: `invalid_json` if the first has half of a surrogate
   * pair, otherwise the code that `codeOf` returns.
   */
  throwIfWrong(whole: string, codeOf: (problems: readonly Problem[]) => ErrorCode): void {
    const [first, ...others] = this.#problems;
    if (first === undefined) return;
    const { pointer, code, detail } = first;
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
    throw new CosiftError(
      code === 'lone_surrogate' ? 'invalid_json' : codeOf(this.#problems),
      `${pointer || whole}: ${detail}${more}`,
      { problems: this.#problems },
    );
  }

  /** Copies the value that `parent` has under `name`; the root has no parent. */
  of(value: unknown, parent: Parent | undefined, name: string | number): unknown {
    switch (typeof value) {
      case 'string':
        if (!value.isWellFormed()) this.#reportHalfPair(pointerOf(parent, name));
        this.bytes += CHARACTER_BYTES * value.length + VALUE_BYTES;
        return value;
      case 'number':
        if (!Number.isFinite(value)) {
          this.#report(pointerOf(parent, name), 'wrong_type', `is ${value}, must be a finite number`);
        }
        this.bytes += NUMBER_BYTES;
        return value;
      case 'boolean':
        this.bytes += VALUE_BYTES;
        return value;
      case 'object':
        this.bytes += VALUE_BYTES;
        if (value === null) return value;
        return this.#ofObject(value, {
          value,
          name,
          parent,
          depth: parent === undefined ? 0 : parent.depth + 1,
        });
      default:
        return this.#refuse(value, pointerOf(parent, name));
    }
  }

  #ofObject(value: object, place: Parent): unknown {
    for (let above = place.parent; above !== undefined; above = above.parent) {
      if (above.value === value) return this.#report(placeOf(place), 'wrong_type', 'contains itself');
    }
    if (place.depth > MAX_DEPTH) {
      return this.#report(placeOf(place), 'too_deep', `is nested deeper than ${MAX_DEPTH} levels`);
    }
    if (Array.isArray(value) && !('toJSON' in value)) return this.#ofArray(value.slice(), place);
    if (ArrayBuffer.isView(value)) return this.#ofArray(valuesOf(value), place);
    if (!isPlain(value)) return this.#refuse(value, placeOf(place));
    const copy: Record<string, unknown> = {};
    for (const name of Object.keys(value)) {
      const member = value[name];
      if (member === undefined) continue;
      // The pointer leads to the object, as the error of a service does.
      if (!name.isWellFormed()) this.#reportHalfPair(placeOf(place));
      this.bytes += CHARACTER_BYTES * name.length + VALUE_BYTES;
      const own = this.of(member, place, name);
      if (name === '__proto__') Object.defineProperty(copy, name, { value: own, enumerable: true });
      else copy[name] = own;
    }
    return copy;
  }

  #ofArray(copy: unknown[], place: Parent): unknown[] {
    // A loop without entries and a call for each number: a vector has thousands of them.
    let at = 0;
    while (Number.isFinite(copy[at])) at++;
    this.bytes += at * NUMBER_BYTES;
    for (; at < copy.length; at++) {
      const item = copy[at];
      copy[at] = this.of(item, place, at);
      // One problem of a vector is enough.
      if (typeof item !== 'object' && !this.isRight) break;
    }
    return copy;
  }

  #refuse(value: unknown, pointer: string): null {
    const detail =
      value instanceof Date
        ? 'is a Date, must be text: use its toISOString()'
        : `is ${nameOf(value)}, which JSON cannot represent`;
    return this.#report(pointer, 'wrong_type', detail);
  }

  #reportHalfPair(pointer: string): void {
    this.#report(pointer, 'lone_surrogate', 'half of a surrogate pair');
  }

  #report(pointer: string, code: ProblemCode, detail: string): null {
    if (this.#problems.length < MAX_PROBLEMS) this.#problems.push({ pointer, code, detail });
    return null;
  }
}

/** The values of a typed array. A view of memory that was transferred to another thread has none. */
function valuesOf(view: ArrayBufferView): unknown[] {
  const values = view as Float32Array;
  // A `DataView` has no length. A loop is several times as fast as `Array.from`.
  const copy: unknown[] = new Array(values.length ?? 0);
  for (let i = 0; i < copy.length; i++) copy[i] = values[i];
  return copy;
}

function placeOf({ parent, name }: Parent): string {
  return pointerOf(parent, name);
}

function pointerOf(parent: Parent | undefined, name: string | number): string {
  if (parent === undefined) return '';
  return `${placeOf(parent)}/${typeof name === 'string' ? escapeToken(name) : name}`;
}
