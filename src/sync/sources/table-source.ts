import { CosiftError } from '../../errors.js';
import { COLUMN_TYPES } from '../../readers/column-types.js';
import {
  flag,
  mapOf,
  matching,
  members,
  name,
  type OptionCheck,
  oneOf,
  secret,
} from '../../schema/option-checks.js';
import type { SyncSource } from '../source.js';
import type { TableDefinition } from './definition.js';

/** A table, a view or a query of a database. */
export interface TableSource extends Omit<TableDefinition, 'key'> {
  /**
   * `postgres://USER@HOST/DATABASE`, `mysql://USER@HOST/DATABASE`, `sqlite:PATH`, or `env:NAME` for such a text in an environment
   * variable.
   */
  from: string;
  /** The column, or the columns, that identify a row. Default: the primary key. */
  key?: string | readonly string[] | undefined;
}

const FROM = /^(postgres(ql)?:\/\/.|mysql:\/\/.|sqlite:.|env:[A-Za-z_][A-Za-z0-9_]*$)/s;
const PLACES = 'postgres://USER@HOST/DATABASE, mysql://USER@HOST/DATABASE or sqlite:PATH';
const FORMS = `${PLACES}, or env:NAME with such a text in the environment variable`;

/** No other slot is moved or dropped by mistake. */
const STREAM = /^cosift_[a-z0-9_]{1,56}$/;

/** A list of columns that is not empty. */
export const columnList: OptionCheck = (value, pointer) =>
  Array.isArray(value) && value.length > 0
    ? value.flatMap((item, at) => name(item, `${pointer}/${at}`))
    : [{ pointer, code: 'wrong_type', detail: 'must be a list of one or more names of columns' }];

/** One column, or a list of them. */
export const columnOrList: OptionCheck = (value, pointer) =>
  (typeof value === 'string' ? name : columnList)(value, pointer);

/** The members of a {@link TableSource}. */
export const TABLE_SOURCE = {
  // It may have a password, which no error shows.
  from: secret(FORMS, (text) => FROM.test(text)),
  table: name,
  query: name,
  columns: columnList,
  key: columnOrList,
  where: name,
  times: members({ created: name, changed: name }, []),
  types: mapOf(oneOf(...COLUMN_TYPES)),
  rls: flag,
  stream: matching('cosift_ and 1 to 56 of a-z 0-9 _', STREAM),
} as const satisfies Readonly<Record<string, OptionCheck>>;

/**
 * Opens a source. Its module, with the driver of the database, is loaded only where it is used.
 *
 * @throws {CosiftError} `source_failed`
 */
export async function openTableSource({ from, key, ...rest }: TableSource): Promise<SyncSource> {
  const definition = { ...rest, key: typeof key === 'string' ? [key] : key };
  if ((definition.table === undefined) === (definition.query === undefined)) {
    throw new CosiftError('source_failed', 'give either `table` or `query`');
  }
  const place = resolved(from);
  const path = /^sqlite:(.+)$/s.exec(place)?.[1];
  if (path === undefined) checkUser(place);
  if (place.startsWith('postgres')) {
    const { PostgresSource } = await import('./postgres/source.js');
    return new PostgresSource(place, definition);
  }
  for (const member of ['stream', 'rls'] as const) {
    if (definition[member] === undefined) continue;
    throw new CosiftError('source_failed', `\`${member}\` needs a table of PostgreSQL`);
  }
  if (path === undefined) {
    const { MysqlSource } = await import('./mysql/source.js');
    return new MysqlSource(place, definition);
  }
  const { SqliteSource } = await import('./sqlite/source.js');
  return new SqliteSource(path, definition);
}

/** @throws {CosiftError} `source_failed` for a URL whose user and password end at a character of the password. */
function checkUser(url: string): void {
  const [, authority = '', rest = ''] = /^\w+:\/\/([^/?#]*)(.*)$/s.exec(url) ?? [];
  // The values of parameters may have an @.
  if (authority.includes('@') || !rest.split('=')[0]?.includes('@')) return;
  throw new CosiftError(
    'source_failed',
    'the URL of the source cannot be used: percent-encode the characters / ? # of the password, as %2F %3F %23',
  );
}

/** The place of a source, which an environment variable may have. */
function resolved(from: string): string {
  const variable = /^env:(.*)$/s.exec(from)?.[1];
  if (variable === undefined) return from;
  const value = process.env[variable];
  if (value === undefined || value === '') {
    throw new CosiftError('source_failed', `the environment variable ${variable} is not set`);
  }
  if (value.startsWith('env:') || !FROM.test(value)) {
    throw new CosiftError('source_failed', `the environment variable ${variable} must have ${PLACES}`);
  }
  return value;
}
