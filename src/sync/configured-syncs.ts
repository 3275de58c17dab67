import { DATABASE_ID } from '../schema/ids.js';
import { integer, mapOf, matching, members } from '../schema/option-checks.js';
import { DEFAULT_EVERY, duration, millisecondsOf } from './duration.js';
import { columnList, TABLE_SOURCE, type TableSource } from './sources/table-source.js';

/** A source that a database is kept in step with. */
export interface ConfiguredSync {
  name: string;
  database: string;
  source: TableSource;
  /** The columns to search by meaning, for a database that is created. Default: every text. */
  embed?: readonly string[] | undefined;
  /** Milliseconds between two passes. */
  everyMs: number;
  maxDeletes?: number | undefined;
}

const ID = matching('1 to 64 of a-z 0-9 _ -', DATABASE_ID);

const checkSyncs = mapOf(
  members(
    {
      ...TABLE_SOURCE,
      database: ID,
      embed: columnList,
      every: duration,
      max_deletes: integer(0, Number.MAX_SAFE_INTEGER),
    },
    ['database', 'from', 'columns'],
  ),
);

interface Member extends TableSource {
  database: string;
  embed?: readonly string[];
  every?: string;
  max_deletes?: number;
}

/**
 * Returns the sources of the member `sync` of a config file.
 *
 * @throws {Error} that names the place of what is wrong.
 */
export function configuredSyncs(section: unknown): ConfiguredSync[] {
  if (section === undefined) return [];
  const [problem] = checkSyncs(section, '/sync');
  if (problem !== undefined) {
    throw new Error(`${problem.pointer.slice(1).replaceAll('/', '.')}: ${problem.detail}`);
  }
  const streams = new Map<string, string>();
  return Object.entries(section as Record<string, Member>).map(([name, member]) => {
    const other = streams.get(member.stream ?? '');
    if (other !== undefined) throw new Error(`sync.${name}.stream: sync.${other} has the same`);
    if (member.stream !== undefined) streams.set(member.stream, name);
    if (!DATABASE_ID.test(name)) throw new Error(`sync.${name}: a name is 1 to 64 of a-z 0-9 _ -`);
    const { database, embed, every = DEFAULT_EVERY, max_deletes, ...source } = member;
    checkEmbed(embed, source.columns, `sync.${name}.embed`);
    return { name, database, source, embed, everyMs: millisecondsOf(every), maxDeletes: max_deletes };
  });
}

/**
 * Checks that records can have the columns that are embedded. Those of JSON objects begin with the name of their column.
 *
 * @throws {Error} that begins with `place`.
 */
export function checkEmbed(
  embed: readonly string[] | undefined,
  columns: readonly string[],
  place: string,
): void {
  const isThere = (name: string) =>
    columns.some((column) => name === column || name.startsWith(`${column}.`));
  const lacking = embed?.find((name) => !isThere(name));
  if (lacking === undefined) return;
  const list = columns.map((column) => JSON.stringify(column)).join(', ');
  throw new Error(`${place}: records have no column ${JSON.stringify(lacking)}; \`columns\` has ${list}`);
}
