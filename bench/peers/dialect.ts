import type { Filter, Group, Rule } from '../data/filters.js';

/** The parts of a condition whose syntax differs between systems. */
export interface Dialect {
  boolean(value: boolean): string;
  contains(column: string, text: string): string;
  startsWith(column: string, text: string): string;
}

/** SQLite. It uses `instr` and `GLOB`, because `LIKE` ignores case. */
export const SQLITE: Dialect = {
  boolean: (value) => (value ? '1' : '0'),
  contains: (column, text) => `instr(${column}, '${text}') > 0`,
  startsWith: (column, text) => `${column} GLOB '${text}*'`,
};

/** PostgreSQL, LanceDB and zvec. */
export const STANDARD: Dialect = {
  boolean: String,
  contains: (column, text) => `${column} LIKE '%${text}%'`,
  startsWith: (column, text) => `${column} LIKE '${text}%'`,
};

/** The filter as an SQL condition; the benches' values hold no quotes or wildcards. Undefined for no filter. */
export function conditionOf({ group, time }: Filter, dialect: Dialect): string | undefined {
  const parts: string[] = [];
  if (group !== undefined) parts.push(ofGroup(group, dialect));
  if (time !== undefined) parts.push(`synced >= ${time.startMs}`, `synced <= ${time.endMs}`);
  return parts.length === 0 ? undefined : parts.join(' AND ');
}

function ofGroup({ condition, rules }: Group, dialect: Dialect): string {
  return `(${rules.map((rule) => ('rules' in rule ? ofGroup(rule, dialect) : ofRule(rule, dialect))).join(` ${condition} `)})`;
}

function ofRule({ column, operator, value }: Rule, dialect: Dialect): string {
  switch (operator) {
    case 'equals':
      if (typeof value === 'boolean') return `${column} = ${dialect.boolean(value)}`;
      return typeof value === 'string' ? `${column} = '${value}'` : `${column} = ${value}`;
    case 'greater_than_or_equals':
      return `${column} >= ${value}`;
    case 'less_than':
      return `${column} < ${value}`;
    case 'contains':
      return dialect.contains(column, String(value));
    case 'starts_with':
      return dialect.startsWith(column, String(value));
    default:
      throw new Error(`${operator} is measured in cosift only`);
  }
}
