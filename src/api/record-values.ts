import { CosiftError, type Problem } from '../errors.js';
import { notMember } from '../schema/details.js';
import { isPlain, nameOf } from '../schema/plain.js';
import { escapeToken } from '../schema/pointer.js';
import { valuesOf } from './vectors.js';

/** The members of a record. */
export const MEMBERS = ['id', 'uuid', 'key', 'data', 'timestamps', 'vector', 'embedded_by'];

/** Maximum number of problems that an error reports. */
const MAX_PROBLEMS = 100;

/**
 * Checks that JSON can represent the columns of a patch, as {@link RecordValues} does for records.
 *
 * @throws {CosiftError} `invalid_record` with a pointer to each value, `/data/price`.
 */
export function checkChanges(changes: unknown): void {
  const problems: Problem[] = [];
  checkData(changes, '/data', problems);
  throwFirst(problems);
}

/**
 * Checks that JSON can represent the values of records: `JSON.stringify` writes NaN and Infinity as null, a date as text,
 * a map as an empty object. The engine checks everything else.
 *
 * A value of `data` is a string, a finite number, a boolean or null. A column that is undefined is ignored.
 */
export class RecordValues {
  readonly #problems: Problem[] = [];

  /** Checks a record, and returns whether every record so far is right. */
  check(record: unknown, at: number): boolean {
    if (this.#problems.length < MAX_PROBLEMS) checkRecord(record, `/records/${at}`, this.#problems);
    return this.#problems.length === 0;
  }

  /** @throws {CosiftError} `invalid_record` with a pointer to each value that is wrong, `/records/2/data/price`. */
  throwIfWrong(): void {
    throwFirst(this.#problems);
  }
}

function throwFirst(problems: Problem[]): void {
  const [first, ...others] = problems;
  if (first === undefined) return;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  throw new CosiftError('invalid_record', `${first.pointer}: ${first.detail}${more}`, { problems });
}

function checkRecord(record: unknown, pointer: string, problems: Problem[]): void {
  if (!isPlain(record)) {
    problems.push({
      pointer,
      code: 'wrong_type',
      detail: `must be a plain object, not ${nameOf(record)}`,
    });
    return;
  }
  for (const name of Object.keys(record)) {
    if (MEMBERS.includes(name)) continue;
    const detail = notMember(name, MEMBERS);
    problems.push({ pointer: `${pointer}/${escapeToken(name)}`, code: 'unknown_member', detail });
  }
  const { id, uuid, key, embedded_by, data, timestamps, vector } = record;
  if (id !== undefined) checkValue(id, `${pointer}/id`, problems);
  if (uuid !== undefined) checkValue(uuid, `${pointer}/uuid`, problems);
  if (key !== undefined) checkValue(key, `${pointer}/key`, problems);
  if (embedded_by !== undefined) checkValue(embedded_by, `${pointer}/embedded_by`, problems);
  if (timestamps !== undefined) checkData(timestamps, `${pointer}/timestamps`, problems);
  if (vector instanceof Float32Array) checkTypedVector(vector, `${pointer}/vector`, problems);
  else if (Array.isArray(vector) || ArrayBuffer.isView(vector)) {
    checkVector(vector, `${pointer}/vector`, problems);
  } else if (typeof vector === 'object' && vector !== null) {
    const detail = `a vector is an array of numbers, not ${nameOf(vector)}`;
    problems.push({ pointer: `${pointer}/vector`, code: 'wrong_type', detail });
  } else if (vector !== undefined) checkValue(vector, `${pointer}/vector`, problems);
  if (data !== undefined) checkData(data, `${pointer}/data`, problems);
}

/** Checks an object whose members are values: columns, or times. */
function checkData(data: unknown, pointer: string, problems: Problem[]): void {
  if (!isPlain(data)) {
    const detail = `must be a plain object, not ${nameOf(data)}`;
    problems.push({ pointer, code: 'wrong_type', detail });
    return;
  }
  for (const [column, value] of Object.entries(data)) {
    if (value === undefined || isValue(value)) continue;
    checkValue(value, `${pointer}/${escapeToken(column)}`, problems);
    if (problems.length >= MAX_PROBLEMS) return;
  }
}

function checkTypedVector(vector: Float32Array, pointer: string, problems: Problem[]): void {
  // A loop without a callback: a batch has hundreds of thousands of values.
  for (let at = 0; at < vector.length; at++) {
    if (Number.isFinite(vector[at])) continue;
    const detail = `a vector holds finite numbers, not ${vector[at]}`;
    problems.push({ pointer, code: 'invalid_vector', detail });
    return;
  }
}

function checkVector(
  vector: ArrayLike<unknown> | ArrayBufferView,
  pointer: string,
  problems: Problem[],
): void {
  const values = ArrayBuffer.isView(vector) ? valuesOf(vector) : Array.from(vector);
  for (const [at, value] of values.entries()) {
    if (typeof value === 'number' && Number.isFinite(value)) continue;
    const detail = `a vector holds finite numbers, not ${nameOf(value)}`;
    problems.push({ pointer: `${pointer}/${at}`, code: 'wrong_type', detail });
    return;
  }
}

function isValue(value: unknown): boolean {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

function checkValue(value: unknown, pointer: string, problems: Problem[]): void {
  if (isValue(value)) return;
  if (typeof value === 'number') {
    problems.push({
      pointer,
      code: 'number_out_of_range',
      detail: `${value} is not a number that JSON holds`,
    });
    return;
  }
  const detail = `a value is a string, number, boolean or null, not ${nameOf(value)}`;
  problems.push({ pointer, code: 'wrong_type', detail });
}
