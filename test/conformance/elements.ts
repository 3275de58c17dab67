import type { Data } from '../../src/schema/index.js';

export type Scalar = string | number | boolean;

/** The elements of a list in a column, or the value; none without a value. */
export function elementsOf({ data }: { data: Data }, column: string): Scalar[] {
  const value = Object.hasOwn(data, column) ? (data[column] ?? null) : null;
  return value === null ? [] : [value].flat();
}
