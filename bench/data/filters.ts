import { CATEGORIES, type Columns, FIRST_SYNC_MS, SYNC_SPAN_MS } from './columns.js';

/** A rule of the benches' filters, as the API takes it. */
export interface Rule {
  readonly column: 'category' | 'price' | 'flag' | 'title';
  readonly operator: 'equals' | 'greater_than_or_equals' | 'less_than' | 'contains' | 'starts_with';
  readonly value: string | number | boolean;
}

/** A group of rules, as the API takes it. */
export interface Group {
  readonly condition: 'AND' | 'OR';
  readonly rules: readonly (Rule | Group)[];
}

/** A range of sync times, both ends inclusive, in milliseconds. */
export interface TimeRange {
  readonly startMs: number;
  readonly endMs: number;
}

/** What a search is narrowed by. */
export interface Filter {
  readonly name: string;
  /** Which share of the records is meant to pass, in words. */
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

/** The filters that every system is measured with. */
export const FILTERS: readonly Filter[] = [NONE, HALF, HUNDREDTH, HUNDREDTH_BY_TIME, TENTH];

/** Shares of the records, in parts of one, that the selectivity sweep keeps. */
export const SELECTIVITIES = [0.0001, 0.001, 0.01, 0.05, 0.1, 0.15, 0.25, 0.5, 0.75, 1] as const;

/** A filter on price that keeps `share` of the records. */
export function keeping(share: number): Filter {
  return {
    name: `price, ${share * 100} %`,
    keeps: `${share * 100} %`,
    group: { condition: 'AND', rules: [{ column: 'price', operator: 'less_than', value: share * 1_000 }] },
  };
}

/** The test of record index `i` against a filter: the bench's own definition, apart from any engine's. */
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
  switch (operator) {
    case 'equals': {
      if (column === 'flag') return (i) => (columns.flag[i] === 1) === value;
      const code = CATEGORIES.indexOf(value as (typeof CATEGORIES)[number]);
      return (i) => columns.category[i] === code;
    }
    case 'greater_than_or_equals':
      return (i) => (columns.price[i] as number) >= (value as number);
    case 'less_than':
      return (i) => (columns.price[i] as number) < (value as number);
    case 'contains':
      return (i) => (columns.title[i] as string).includes(value as string);
    case 'starts_with':
      return (i) => (columns.title[i] as string).startsWith(value as string);
  }
}
