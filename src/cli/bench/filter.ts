import type { ColumnValue, Data, FilterRule } from '../../schema/index.js';

/** The share of the records that the filter should pass. */
const WANTED_SHARE = 0.1;
const MAX_VALUE_LENGTH = 100;

/** A filter of one rule, and the definition of its operator for the comparison with brute force. */
export interface BenchFilter {
  rule: FilterRule;
  /** Share of the sampled records that satisfy the rule. */
  share: number;
  satisfies(data: Data): boolean;
}

/** Returns a rule that about a tenth of the sampled records satisfy, or as near to that as their columns allow. */
export function filterOf(sample: readonly { data: Data }[]): BenchFilter | undefined {
  const candidates = [...new Set(sample.flatMap(({ data }) => Object.keys(data)))].flatMap((column) =>
    candidatesOf(
      column,
      sample.flatMap(({ data }) => elementsOf(data, column)),
    ),
  );
  const filters = candidates.map((candidate) => ({
    ...candidate,
    share: sample.filter(({ data }) => candidate.satisfies(data)).length / sample.length,
  }));
  const distance = ({ share }: BenchFilter) => Math.abs(share - WANTED_SHARE);
  // A rule that every record satisfies measures nothing else than a search without a filter.
  return filters.filter(({ share }) => share < 1).toSorted((a, b) => distance(a) - distance(b))[0];
}

function candidatesOf(column: string, values: readonly ColumnValue[]): Omit<BenchFilter, 'share'>[] {
  const numbers = values.filter((value) => typeof value === 'number').toSorted((a, b) => a - b);
  const bound = numbers[Math.floor(values.length * WANTED_SHARE)];
  const less =
    bound === undefined
      ? []
      : [
          {
            rule: { column, operator: 'less_than', value: bound } as const,
            satisfies: (data: Data) =>
              elementsOf(data, column).some((value) => typeof value === 'number' && value < bound),
          },
        ];
  const others = new Set(
    values.filter(
      (value) =>
        typeof value === 'boolean' ||
        (typeof value === 'string' && value !== '' && value.length <= MAX_VALUE_LENGTH),
    ),
  );
  const equal = [...others].map((value) => ({
    rule: { column, operator: 'equals', value } as FilterRule,
    satisfies: (data: Data) => elementsOf(data, column).includes(value),
  }));
  return [...less, ...equal];
}

/** The elements of a list, or else the value alone; null for no value. Columns may have names such as `constructor`. */
function elementsOf(data: Data, column: string): readonly ColumnValue[] {
  return [Object.hasOwn(data, column) ? (data[column] ?? null) : null].flat();
}
