import { CosiftError, isCode } from '../../errors.js';
import type { ColumnType } from '../../readers/column-types.js';

/** What is read of a database: a table or the result of a query, and which of its columns. */
export interface TableDefinition {
  /** The name of a table or view, such as `public.products`. */
  table?: string | undefined;
  /** A query in place of `table`. It needs a `key`. */
  query?: string | undefined;
  columns: readonly string[];
  /** The columns that identify a row. Default: the primary key. */
  key?: readonly string[] | undefined;
  /** A condition in SQL on the columns of a row. Other rows count as absent. */
  where?: string | undefined;
  /** The columns with the times of the records. */
  times?: { created?: string | undefined; changed?: string | undefined } | undefined;
  /** The types of columns whose values are not stored as their own type says. */
  types?: Readonly<Record<string, ColumnType>> | undefined;
  /** Whether row-level security may hide rows, which then count as absent. */
  rls?: boolean | undefined;
  /**
   * The name of a replication slot and a publication of PostgreSQL, which are made if they are missing, and tell at once which
   * rows are changed. It begins with `cosift_`.
   */
  stream?: string | undefined;
}

/**
 * Returns the columns of data, times and types. `given` are those that the source has, if they are known; `what` names it.
 *
 * @throws {CosiftError} `source_failed` for a column that it does not have, and for a definition without columns.
 */
export function wantedColumns(
  { columns, times, types }: TableDefinition,
  given: readonly string[] | undefined,
  what: string,
): string[] {
  if (columns.length === 0) {
    const list = given === undefined ? '' : `; ${listed(what, given)}`;
    throw new CosiftError('source_failed', `give the \`columns\` to read${list}`);
  }
  const twice = columns.find((name, at) => columns.indexOf(name) !== at);
  if (twice !== undefined) throw new CosiftError('source_failed', `\`columns\` has "${twice}" twice`);
  const names = [...columns, ...Object.values(times ?? {}), ...Object.keys(types ?? {})];
  const wanted = names.filter((name) => name !== undefined);
  if (given !== undefined) checkColumns(wanted, given, what);
  return wanted;
}

/** What stands after the condition where {@link checkWhere} tries it. Errors of some databases show it. */
const AFTER_WHERE = '\n THEN 1 END';

/**
 * Tries the condition of a definition by itself, where a parenthesis that it does not open ends the statement. `select` runs a
 * statement that selects an expression.
 *
 * @throws {CosiftError} `source_failed` for one that is not valid.
 */
export async function checkWhere(
  { where, table }: TableDefinition,
  select: (expression: string) => Promise<unknown>,
): Promise<void> {
  if (where === undefined) return;
  try {
    await select(`CASE WHEN ${where}${AFTER_WHERE}`);
  } catch (error) {
    if (!isCode(error, 'source_failed')) throw error;
    throw new CosiftError(
      'source_failed',
      `\`where\` of ${table ?? 'the query'} cannot be used as a condition: ${withoutStatement(error.detail)}`,
      { cause: error },
    );
  }
}

/** The detail of an error without the statement around the condition, of which databases show an excerpt. */
function withoutStatement(detail: string): string {
  const [before = '', after = ''] = detail.replace(/ in SELECT CASE WHEN .*$/s, '').split(AFTER_WHERE);
  // The closing quote of the excerpt, and its line.
  const end = after.slice(Math.max(0, after.lastIndexOf("'")));
  return `${before}${end}`.replace(/(at or )?near (["'])THEN( 1 END .*)?\2/s, 'at its end');
}

/** @throws {CosiftError} `source_failed` for a column that the source does not have. */
export function checkColumns(names: readonly string[], given: readonly string[], what: string): void {
  const lacking = [...new Set(names.filter((name) => !given.includes(name)))];
  if (lacking.length === 0) return;
  const list = lacking.map((name) => `"${name}"`).join(', ');
  throw new CosiftError('source_failed', `there is no column ${list}; ${listed(what, given)}`);
}

function listed(what: string, names: readonly string[]): string {
  return `${what} has ${names.map((name) => `"${name}"`).join(', ')}`;
}
