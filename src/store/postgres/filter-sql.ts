import type { Filter, FilterRule } from '../../schema/index.js';
import { instantSql, instantsSql } from './instant-sql.js';
import { arrayOf, type Values } from './sql.js';
import { encodeText } from './text.js';

/** What conditions on columns are made of. */
interface Binding {
  values: Values;
  /** The columns that may have a list. Other columns have the conditions that an index can answer. */
  listColumns: ReadonlySet<string>;
}

/**
 * The condition of a filter that the engine accepted. Every rule is true or false for every record, never NULL, so that
 * groups need no care.
 */
function filterSql(filter: Filter, binding: Binding): string {
  if (!('rules' in filter)) return ruleSql(filter, binding);
  const operator = filter.condition === 'OR' ? ' OR ' : ' AND ';
  const rules = filter.rules.map((rule) => filterSql(rule, binding));
  return `(${rules.join(operator)})`;
}

/**
 * The conditions of the rules that every record must meet, as an index on a column can answer them. Here NULL is as good as
 * false, because the conditions are not part of another one.
 */
function requiredSql(filter: Filter, binding: Binding): string[] {
  if ('rules' in filter) {
    const isRequired = filter.condition !== 'OR' || filter.rules.length === 1;
    return isRequired
      ? filter.rules.flatMap((rule) => requiredSql(rule, binding))
      : [filterSql(filter, binding)];
  }
  const { column, operator } = filter;
  const { values, listColumns } = binding;
  const isComparison = operator in COMPARISONS;
  const isEquality = operator === 'equals' || operator === 'in';
  if ((!isEquality && !isComparison) || listColumns.has(column)) return [ruleSql(filter, binding)];
  const { json } = cellSql(column, values);
  if (operator === 'in') return [`${json} = ${anySql(filter.value, values)}`];
  const bound = `${values.bind(jsonOf('value' in filter ? filter.value : null))}::jsonb`;
  if (!isComparison) return [`${json} = ${bound}`];
  return [
    `jsonb_typeof(${json}) = 'number'`,
    `${json} ${COMPARISONS[operator as keyof typeof COMPARISONS]} ${bound}`,
  ];
}

/** A value of a record as JSON, and its text. */
export interface ValueSql {
  json: string;
  text: string;
}

/** The value of a column, NULL for none. */
export function cellSql(column: string, values: Values): ValueSql {
  const name = `${values.bind(encodeText(column))}::text`;
  return { json: `cells->${name}`, text: `cells->>${name}` };
}

/** The elements of a list, or else the value alone; none for NULL. */
export function elementsSql(json: string): string {
  return `jsonb_path_query(${json}, '$[*]') AS e (element)`;
}

/** An element of {@link elementsSql}. */
export const ELEMENT: ValueSql = { json: 'e.element', text: "e.element #>> '{}'" };

type Operator = FilterRule['operator'];

type NegativeOperator = Extract<Operator, `${string}not_${string}`>;

/** The operators of which negative ones are the complements. */
const POSITIVE: Record<NegativeOperator, PositiveOperator> = {
  not_equals: 'equals',
  not_contains: 'contains',
  not_in: 'in',
  is_not_empty: 'is_empty',
};

type PositiveOperator = Exclude<Operator, NegativeOperator>;

function isNegative(operator: Operator): operator is NegativeOperator {
  return operator in POSITIVE;
}

function ruleSql(rule: FilterRule, binding: Binding): string {
  const { operator } = rule;
  const value = 'value' in rule ? rule.value : null;
  if (!isNegative(operator)) return heldSql(rule.column, operator, value, binding);
  return `(NOT ${heldSql(rule.column, POSITIVE[operator], value, binding)})`;
}

/** The condition that a positive operator holds for a value of a column, or for an element of its list. */
function heldSql(
  column: string,
  operator: PositiveOperator,
  value: unknown,
  { values, listColumns }: Binding,
): string {
  const cell = cellSql(column, values);
  const isEmpty = operator === 'is_empty';
  if (isEmpty && !listColumns.has(column)) return `(coalesce(${cell.text}, '') = '')`;
  const condition = conditionOf(operator, value, values);
  if (!listColumns.has(column)) return `coalesce(${condition(cell)}, false)`;
  const held = `EXISTS (SELECT FROM ${elementsSql(cell.json)} WHERE ${condition(ELEMENT)})`;
  return isEmpty ? `(coalesce(${cell.json}, 'null') IN ('null', '[]') OR ${held})` : held;
}

/** The condition that a positive operator holds for a value that is no list; it may be NULL where it does not. */
function conditionOf(operator: PositiveOperator, value: unknown, values: Values): (of: ValueSql) => string {
  const bound = () => `${values.bind(jsonOf(value))}::jsonb`;
  const isText = ({ json }: ValueSql) => `jsonb_typeof(${json}) = 'string'`;
  const ofText = (test: (text: string, wanted: string) => string) => {
    const wanted = `${values.bind(encodeText(String(value)))}::text`;
    return (of: ValueSql) => `${isText(of)} AND ${test(`(${of.text}) COLLATE "C"`, wanted)}`;
  };
  switch (operator) {
    case 'equals': {
      const wanted = bound();
      return ({ json }) => `${json} = ${wanted}`;
    }
    case 'greater_than':
    case 'less_than':
    case 'greater_than_or_equals':
    case 'less_than_or_equals': {
      const wanted = bound();
      return ({ json }) => `jsonb_typeof(${json}) = 'number' AND ${json} ${COMPARISONS[operator]} ${wanted}`;
    }
    case 'contains':
      return ofText((text, wanted) => `strpos(${text}, ${wanted}) > 0`);
    case 'starts_with':
      return ofText((text, wanted) => `starts_with(${text}, ${wanted})`);
    case 'ends_with':
      return ofText((text, wanted) => `right(${text}, length(${wanted})) = ${wanted}`);
    case 'in': {
      const wanted = anySql(value as readonly unknown[], values);
      return ({ json }) => `${json} = ${wanted}`;
    }
    case 'before':
    case 'after':
    case 'on_or_before':
    case 'on_or_after': {
      const instants = instantsSql(operator, value as string, values);
      return ({ text }) => `${instantSql(`(${text}) COLLATE "C"`)} <@ ${instants}`;
    }
    case 'is_empty':
      return ({ json }) => `${json} = '""'`;
  }
}

const COMPARISONS = {
  greater_than: '>',
  less_than: '<',
  greater_than_or_equals: '>=',
  less_than_or_equals: '<=',
} as const;

function anySql(list: readonly unknown[], values: Values): string {
  return `ANY(${values.bind(arrayOf(list.map(jsonOf)))}::jsonb[])`;
}

function jsonOf(value: unknown): string {
  return JSON.stringify(typeof value === 'string' ? encodeText(value) : value);
}

/** What restricts the records of a request. */
export interface Restriction {
  /** The columns that may have a list. */
  listColumns: ReadonlySet<string>;
  filter?: Filter | undefined;
  forced_filter?: Filter | undefined;
  /** The first millisecond of the last sync. */
  start?: number | null | undefined;
  /** The last millisecond of the last sync. */
  end?: number | null | undefined;
  /** Ids of records that are left out. */
  excluded?: readonly number[] | undefined;
}

/** The conditions of a request, each of which a record must meet. */
export function restrictionSql(
  { listColumns, filter, forced_filter, start, end, excluded = [] }: Restriction,
  values: Values,
): string[] {
  const conditions: string[] = [];
  const binding = { values, listColumns };
  if (forced_filter) conditions.push(...requiredSql(forced_filter, binding));
  if (filter) conditions.push(...requiredSql(filter, binding));
  if (typeof start === 'number') conditions.push(`synced >= ${values.bind(start)}::bigint`);
  if (typeof end === 'number') conditions.push(`synced <= ${values.bind(end)}::bigint`);
  if (excluded.length > 0) conditions.push(`id <> ALL(${values.bind(arrayOf(excluded))}::bigint[])`);
  return conditions;
}
