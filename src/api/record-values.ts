import { CosiftError, type Problem } from '../errors.js';
import { escapeToken } from '../schema/pointer.js';

/** Maximum number of problems that an error reports. */
const MAX_PROBLEMS = 100;

/**
 * Checks that JSON can represent the values of records: `JSON.stringify` writes NaN and Infinity as null, a date as text,
 * a map as an empty object. The engine checks everything else.
 *
 * A value of `data` is a string, a finite number, a boolean or null. A column that is undefined is ignored.
 *
 * @throws {CosiftError} `invalid_record` with a pointer to each value, `/records/2/data/price`.
 */
export function checkRecordValues(records: readonly unknown[]): void {
  const problems: Problem[] = [];
  for (const [at, record] of records.entries()) {
    checkRecord(record, `/records/${at}`, problems);
    if (problems.length >= MAX_PROBLEMS) break;
  }
  throwFirst(problems);
}

/**
 * Checks that JSON can represent the columns of a patch, as {@link checkRecordValues} does for records.
 *
 * @throws {CosiftError} `invalid_record` with a pointer to each value, `/data/price`.
 */
export function checkChanges(changes: unknown): void {
  const problems: Problem[] = [];
  checkData(changes, '/data', problems);
  throwFirst(problems);
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
      detail: `a record is a plain object, not ${nameOf(record)}`,
    });
    return;
  }
  const { id, data, vector } = record;
  if (id !== undefined) checkValue(id, `${pointer}/id`, problems);
  if (vector instanceof Float32Array) checkTypedVector(vector, `${pointer}/vector`, problems);
  else if (Array.isArray(vector) || ArrayBuffer.isView(vector)) {
    checkVector(vector, `${pointer}/vector`, problems);
  }
  if (data !== undefined) checkData(data, `${pointer}/data`, problems);
}

function checkData(data: unknown, pointer: string, problems: Problem[]): void {
  if (!isPlain(data)) {
    const detail = `data is a plain object, not ${nameOf(data)}`;
    problems.push({ pointer, code: 'wrong_type', detail });
    return;
  }
  for (const [column, value] of Object.entries(data)) {
    if (value === undefined) continue;
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
  for (const [at, value] of Array.from(vector as ArrayLike<unknown>).entries()) {
    if (typeof value === 'number' && Number.isFinite(value)) continue;
    const detail = `a vector holds finite numbers, not ${nameOf(value)}`;
    problems.push({ pointer: `${pointer}/${at}`, code: 'wrong_type', detail });
    return;
  }
}

function checkValue(value: unknown, pointer: string, problems: Problem[]): void {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return;
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return;
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

/** Returns whether JSON represents a value by exactly its own members. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  return (
    Object.prototype.toString.call(value) === '[object Object]' &&
    typeof (value as { toJSON?: unknown }).toJSON !== 'function'
  );
}

/** Describes a value in an error: its type, with an article, or the value of a number. */
export function nameOf(value: unknown): string {
  if (value === null || value === undefined || typeof value === 'number') return String(value);
  if (typeof value !== 'object') return `a ${typeof value}`;
  const name = Array.isArray(value) ? 'array' : (value.constructor?.name ?? 'object');
  return `${/^[aeiou]/i.test(name) ? 'an' : 'a'} ${name === 'Object' ? 'object' : name}`;
}
