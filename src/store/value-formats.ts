import type { ValueFormats } from '../schema/index.js';

/** Adds the formats of columns that have none yet; undefined if a column has another one. */
export function withFormats(existing: ValueFormats = {}, given: ValueFormats = {}): ValueFormats | undefined {
  const isOther = Object.entries(given).some(
    ([column, format]) => Object.hasOwn(existing, column) && existing[column] !== format,
  );
  return isOther ? undefined : { ...existing, ...given };
}
