import type { Filter, FilterRule } from '../../schema/index.js';
import { instantSql, instantsSql } from './instant-sql.js';
import { arrayOf, type Values } from './sql.js';
import { encodeText } from './text.js';

/**
 * The condition of a filter that the engine accepted. Every rule is true or false for every record, never NULL, so that
 * groups need no care.
 */
export function filterSql(filter: Filter, values: Values): string {
  if (!('rules' in filter)) return ruleSql(filter, values);
  const operator = filter.condition === 'OR' ? ' OR ' : ' AND ';
  const rules = filter.rules.map((rule) => filterSql(rule, values));
  return `(${rules.join(operator)})`;
}

/**
 * The conditions of the rules that every record must meet, as an index on a column can answer them. Here NULL is as good as
 * false, because the conditions are not part of another one.
 */
function requiredSql(filter: Filter, values: Values): string[] {
  if ('rules' in filter) {
    const isRequired = filter.condition !== 'OR' || filter.rules.length === 1;
    return isRequired
      ? filter.rules.flatMap((rule) => requiredSql(rule, values))
      : [filterSql(filter, values)];
  }
  const { column, operator } = filter;
  const isComparison = operator in COMPARISONS;
  const isEquality = operator === 'equals' || operator === 'in';
  if (!isEquality && !isComparison) return [ruleSql(filter, values)];
  const json = `cells->${values.bind(encodeText(column))}::text`;
  if (operator === 'in') return [`${json} = ${anySql(filter.value, values)}`];
  const bound = `${values.bind(jsonOf('value' in filter ? filter.value : null))}::jsonb`;
  if (!isComparison) return [`${json} = ${bound}`];
  return [
    `jsonb_typeof(${json}) = 'number'`,
    `${json} ${COMPARISONS[operator as keyof typeof COMPARISONS]} ${bound}`,
  ];
}

function ruleSql(rule: FilterRule, values: Values): string {
  const { column, operator } = rule;
  const value = 'value' in rule ? rule.value : null;
  const name = `${values.bind(encodeText(column))}::text`;
  const json = `cells->${name}`;
  const text = `(cells->>${name}) COLLATE "C"`;
  const bound = () => `${values.bind(jsonOf(value))}::jsonb`;
  const boundText = () => `${values.bind(encodeText(String(value)))}::text`;
  const isText = `jsonb_typeof(${json}) = 'string'`;
  switch (operator) {
    case 'equals':
      return `coalesce(${json} = ${bound()}, false)`;
    case 'not_equals':
      return `(NOT coalesce(${json} = ${bound()}, false))`;
    case 'greater_than':
    case 'less_than':
    case 'greater_than_or_equals':
    case 'less_than_or_equals':
      return `coalesce(jsonb_typeof(${json}) = 'number' AND ${json} ${COMPARISONS[operator]} ${bound()}, false)`;
    case 'contains':
      return `coalesce(${isText} AND strpos(${text}, ${boundText()}) > 0, false)`;
    case 'not_contains':
      return `(NOT coalesce(${isText} AND strpos(${text}, ${boundText()}) > 0, false))`;
    case 'starts_with':
      return `coalesce(${isText} AND starts_with(${text}, ${boundText()}), false)`;
    case 'ends_with': {
      const end = boundText();
      return `coalesce(${isText} AND right(${text}, length(${end})) = ${end}, false)`;
    }
    case 'in':
      return `coalesce(${json} = ${anySql(rule.value, values)}, false)`;
    case 'not_in':
      return `(NOT coalesce(${json} = ${anySql(rule.value, values)}, false))`;
    case 'before':
    case 'after':
    case 'on_or_before':
    case 'on_or_after':
      return `coalesce(${instantSql(text)} <@ ${instantsSql(operator, rule.value, values)}, false)`;
    case 'is_empty':
      return `(coalesce(cells->>${name}, '') = '')`;
    case 'is_not_empty':
      return `(coalesce(cells->>${name}, '') <> '')`;
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
  { filter, forced_filter, start, end, excluded = [] }: Restriction,
  values: Values,
): string[] {
  const conditions: string[] = [];
  if (forced_filter) conditions.push(...requiredSql(forced_filter, values));
  if (filter) conditions.push(...requiredSql(filter, values));
  if (typeof start === 'number') conditions.push(`synced >= ${values.bind(start)}::bigint`);
  if (typeof end === 'number') conditions.push(`synced <= ${values.bind(end)}::bigint`);
  if (excluded.length > 0) conditions.push(`id <> ALL(${values.bind(arrayOf(excluded))}::bigint[])`);
  return conditions;
}
