import { CosiftError } from '../errors.js';
import type { Limits, ValueFormats } from '../schema/index.js';

/**
 * Adds the formats of columns that have none yet; undefined if a column has another one.
 *
 * @throws {CosiftError} `invalid_request` when more columns than a database may have would have a format.
 */
export function withFormats(
  existing: ValueFormats = {},
  given: ValueFormats = {},
  { database_columns }: Pick<Limits, 'database_columns'>,
): ValueFormats | undefined {
  const isOther = Object.entries(given).some(
    ([column, format]) => Object.hasOwn(existing, column) && existing[column] !== format,
  );
  if (isOther) return undefined;
  const formats = { ...existing, ...given };
  const [before, after] = [existing, formats].map((all) => Object.keys(all).length) as [number, number];
  // A lower limit than before does not concern the formats that are there.
  if (after > before && after > database_columns) throw tooMany(after, database_columns);
  return formats;
}

function tooMany(count: number, limit: number): CosiftError {
  const detail = `the database would have formats of ${count} columns, more than ${limit}`;
  const problem = { pointer: '/formats', detail, code: 'too_many_columns' } as const;
  return new CosiftError('invalid_request', `${problem.pointer}: ${detail}`, { problems: [problem] });
}
