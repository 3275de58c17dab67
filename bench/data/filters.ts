import type { FilterRule } from '../../src/schema/index.js';
import { CATEGORIES, type Columns, type Data, FIRST_SYNC_MS, SYNC_SPAN_MS } from './columns.js';
import { ruleTest } from './predicate.js';

/** A rule in the format of the API. `is_empty` and `is_not_empty` have no value. */
export interface Rule {
  readonly column: keyof Data;
  readonly operator: Operator;
  readonly value?: FilterValue;
}

type FilterValue = Extract<FilterRule, { value: unknown }>['value'];

export type Operator = FilterRule['operator'];

/** A group of rules in the format of the API. */
export interface Group {
  readonly condition: 'AND' | 'OR';
  readonly rules: readonly (Rule | Group)[];
}

/** A range of sync times, both ends inclusive, in milliseconds. */
export interface TimeRange {
  readonly startMs: number;
  readonly endMs: number;
}

/** The filter and the time range of a search. */
export interface Filter {
  readonly name: string;
  /** Description of the share of the records that pass. */
  readonly keeps: string;
  readonly group?: Group;
  readonly time?: TimeRange;
}

/** No filter at all. */
export const NONE: Filter = { name: 'none', keeps: '100 %' };

/** A number and a boolean. */
export const HALF: Filter = {
  name: 'number and boolean',
  keeps: '50 %',
  group: {
    condition: 'AND',
    rules: [
      { column: 'flag', operator: 'equals', value: true },
      { column: 'price', operator: 'less_than', value: 715 },
    ],
  },
};

/** A category and a substring. */
export const HUNDREDTH: Filter = {
  name: 'category and substring',
  keeps: '1 %',
  group: {
    condition: 'AND',
    rules: [
      { column: 'category', operator: 'equals', value: 'pets' },
      { column: 'title', operator: 'contains', value: 'hand' },
    ],
  },
};

/** A range of numbers and a range of times. */
export const HUNDREDTH_BY_TIME: Filter = {
  name: 'number and time',
  keeps: '1 %',
  group: {
    condition: 'AND',
    rules: [
      { column: 'price', operator: 'greater_than_or_equals', value: 500 },
      { column: 'price', operator: 'less_than', value: 550 },
    ],
  },
  time: { startMs: FIRST_SYNC_MS + SYNC_SPAN_MS * 0.3, endMs: FIRST_SYNC_MS + SYNC_SPAN_MS * 0.5 },
};

/** A nested OR, a prefix and a range of times. */
export const TENTH: Filter = {
  name: 'nested OR, prefix, time',
  keeps: '10 %',
  group: {
    condition: 'AND',
    rules: [
      {
        condition: 'OR',
        rules: [
          { column: 'category', operator: 'equals', value: 'optics' },
          { column: 'title', operator: 'starts_with', value: 'jade ' },
          { column: 'price', operator: 'less_than', value: 70 },
        ],
      },
    ],
  },
  time: { startMs: FIRST_SYNC_MS + SYNC_SPAN_MS * 0.25, endMs: FIRST_SYNC_MS + SYNC_SPAN_MS },
};

/** The filters with which all systems are measured. */
export const FILTERS: readonly Filter[] = [NONE, HALF, HUNDREDTH, HUNDREDTH_BY_TIME, TENTH];

/** The selectivities, 0..1, of the selectivity sweep. */
export const SELECTIVITIES = [0.0001, 0.001, 0.01, 0.05, 0.1, 0.15, 0.25, 0.5, 0.75, 1] as const;

/** A filter on `price` that the share `share` of the records passes. */
export function priceBelow(share: number): Filter {
  return {
    name: `price, ${share * 100} %`,
    keeps: `${share * 100} %`,
    group: { condition: 'AND', rules: [{ column: 'price', operator: 'less_than', value: share * 1_000 }] },
  };
}

/** Each operator alone. */
export const OPERATORS: readonly Filter[] = (
  [
    { column: 'category', operator: 'equals', value: 'tools' },
    { column: 'category', operator: 'not_equals', value: 'tools' },
    { column: 'price', operator: 'greater_than', value: 500 },
    { column: 'price', operator: 'less_than', value: 500 },
    { column: 'price', operator: 'greater_than_or_equals', value: 950 },
    { column: 'price', operator: 'less_than_or_equals', value: 50 },
    { column: 'title', operator: 'contains', value: 'lantern' },
    { column: 'title', operator: 'not_contains', value: 'lantern' },
    { column: 'title', operator: 'starts_with', value: 'jade ' },
    { column: 'title', operator: 'ends_with', value: '7' },
    { column: 'title', operator: 'is_empty' },
    { column: 'title', operator: 'is_not_empty' },
    { column: 'category', operator: 'in', value: ['tools', 'pets', 'optics'] },
    { column: 'category', operator: 'not_in', value: ['tools', 'pets', 'optics'] },
  ] as const
).map((rule) => ({
  name: `${rule.column} ${rule.operator}`,
  keeps: 'what the operator passes',
  group: { condition: 'AND', rules: [rule] },
}));

/** Whether the record at index `i` passes a filter. */
export function predicateOf(filter: Filter, columns: Columns): (i: number) => boolean {
  const { group, time } = filter;
  const byGroup = group === undefined ? () => true : groupPredicate(group, columns);
  if (time === undefined) return byGroup;
  const { startMs, endMs } = time;
  const synced = columns.synced;
  return (i) => (synced[i] as number) >= startMs && (synced[i] as number) <= endMs && byGroup(i);
}

function groupPredicate(group: Group, columns: Columns): (i: number) => boolean {
  const tests = group.rules.map((rule) =>
    'rules' in rule ? groupPredicate(rule, columns) : rulePredicate(rule, columns),
  );
  return group.condition === 'AND'
    ? (i) => tests.every((test) => test(i))
    : (i) => tests.some((test) => test(i));
}

function rulePredicate({ column, operator, value }: Rule, columns: Columns): (i: number) => boolean {
  const at = reader(column, columns);
  const test = ruleTest(operator, value);
  return (i) => test(at(i));
}

function reader(column: keyof Data, columns: Columns): (i: number) => string | number | boolean {
  switch (column) {
    case 'category':
      return (i) => CATEGORIES[columns.category[i] as number] as string;
    case 'flag':
      return (i) => columns.flag[i] === 1;
    case 'price':
      return (i) => columns.price[i] as number;
    case 'title':
      return (i) => columns.title[i] as string;
  }
}
