import { type Command, Option } from 'commander';
import { asGroup } from '../../api/requests.js';
import { CosiftError, isCode } from '../../errors.js';
import { columnNames } from '../../readers/option-text.js';
import type {
  Filter,
  FilterGroup,
  Pagination,
  QueryRequest,
  SearchRequest,
  TimeRange,
} from '../../schema/index.js';
import { count } from '../../schema/plain.js';
import { columnsOf, unknownColumns } from '../../where/unknown-columns.js';
import { warn } from '../failure.js';
import { whereOption } from '../filter-options.js';
import { parseColumns, parseNumber } from '../option-values.js';
import { type OrderedObject, writeOrdered } from '../ordered-json.js';
import { note, writeLines } from '../output.js';
import type { TargetOptions } from '../target.js';
import { csvLines, jsonLines, type RecordFormat, SCORE, tableLines } from './formats.js';
import { withDatabase } from './near-names.js';
import { type ListRequest, openReader, type Reader } from './reader.js';

/** Maximum number of records that a request may ask for. */
const PAGE_LIMIT = 100;
export const DEFAULT_LIMIT = 10;

/** The options that select records. */
export interface SelectionOptions extends TargetOptions {
  where?: Filter;
  since?: string;
  until?: string;
}

/** The options of commands that list records. */
export interface ListingOptions extends SelectionOptions {
  limit?: number;
  all?: true;
  count?: true;
  columns?: string[];
  json?: true;
  distinct?: string;
  vectors?: true;
  csv?: true;
}

/** Adds the options of {@link ListingOptions}. */
export function withListingOptions<C extends Command>(command: C): C {
  return command
    .addOption(whereOption('filter that every record satisfies'))
    .addOption(timeOption('--since', 'later'))
    .addOption(timeOption('--until', 'earlier'))
    .option(
      '--limit <n>',
      `maximum number of records to show, 1 to 100 (default: ${DEFAULT_LIMIT})`,
      parseNumber,
    )
    .addOption(new Option('--all', 'show every record, page after page').conflicts('limit'))
    .addOption(
      new Option('--count', 'print only the number of records').conflicts(['all', 'limit', 'columns', 'csv']),
    )
    .option(
      '--columns <names>',
      'columns to show, comma-separated, or one for each use of the option (default: all)',
      parseColumns,
    )
    .option('--distinct <column>', 'only the first record of those with an equal value in the column')
    .addOption(new Option('--csv', 'print CSV').conflicts('json'))
    .option('--json', 'print the response as JSON; with --all, a record a line')
    .option('--vectors', 'with --json, show the stored vectors of each record');
}

export function timeOption(flag: '--since' | '--until', or: 'later' | 'earlier'): Option {
  return new Option(`${flag} <time>`, `only records that were last written at this time or ${or} (ISO 8601)`);
}

/** The members of a request that the options give. */
export function requestOf({ where, since, until }: SelectionOptions): {
  filter?: FilterGroup;
  time_range?: TimeRange;
} {
  const hasTimes = since !== undefined || until !== undefined;
  return {
    ...(where !== undefined && { filter: asGroup(where) }),
    ...(hasTimes && {
      time_range: {
        ...(since !== undefined && { start_time: since }),
        ...(until !== undefined && { end_time: until }),
      },
    }),
  };
}

/** Prints the records that a request finds. `nothing` is printed when there are none. */
export async function list(
  database: string,
  asked: ListRequest,
  given: ListingOptions,
  nothing: string,
): Promise<void> {
  const options = given.columns === undefined ? given : { ...given, columns: columnNames(given.columns) };
  const { distinct } = options;
  const listed = distinct === undefined ? asked : withMembers(asked, { distinct });
  await using reader = await openReader(options);
  await withDatabase(reader.databases, database, async () => {
    const found = options.count
      ? await printCount(reader, database, listed, options)
      : await printRecords(reader, database, listed, options, nothing);
    const named = [...columnsNamed(listed, options), ...(found === 0 ? columnsOf(options.where) : [])];
    for (const problem of await unknownColumns(reader.databases, database, named)) warn(problem);
  });
}

/** The columns that options name; the records show nothing of a misspelt one. */
function columnsNamed({ request }: ListRequest, { columns = [], distinct }: ListingOptions): string[] {
  const { sort, search } = request as QueryRequest & Partial<SearchRequest>;
  const sorted = sort !== undefined && 'column' in sort ? sort.column : undefined;
  const boosted = (search?.boosts ?? []).flatMap(({ column, filter }) => column ?? [...columnsOf(filter)]);
  return [...columns, ...[sorted, distinct].filter((column) => column !== undefined), ...boosted];
}

async function printCount(
  reader: Reader,
  database: string,
  listed: ListRequest,
  { json }: ListingOptions,
): Promise<number> {
  const page = await reader.page(database, withMembers(listed, { total: true, pagination: { limit: 1 } }));
  const found = (page.get('total') as OrderedObject).get('value') as number;
  await writeLines([json ? JSON.stringify({ count: found }) : String(found)]);
  return found;
}

async function printRecords(
  reader: Reader,
  database: string,
  listed: ListRequest,
  options: ListingOptions,
  nothing: string,
): Promise<number> {
  const { all, json, limit = DEFAULT_LIMIT, columns, vectors } = options;
  const shown = { ...(columns && { columns }), ...(vectors && { vectors }) };
  let pagination: Pagination = { limit: all ? PAGE_LIMIT : limit };
  let format: RecordFormat | undefined;
  let printed = 0;
  for (;;) {
    const page = await reader.page(database, withMembers(listed, { pagination, ...shown }));
    const records = page.get('results') as OrderedObject[];
    if (json && !all) {
      await writeLines([writeOrdered(page, '  ')]);
      return records.length;
    }
    format ??= json ? jsonLines : await rowFormat(reader, database, listed, records, options);
    if (records.length > 0 || options.csv) await writeLines(format(records));
    printed += records.length;
    const position = page.get('pagination') as OrderedObject;
    const cursor = position.get('next_cursor');
    if (!all || typeof cursor !== 'string') {
      if (!json && cursor !== undefined)
        note(`the first ${count(printed)}; --limit shows more, --all every record`);
      if (printed === 0 && !json && !options.csv) note(nothing);
      return printed;
    }
    pagination = { ...pagination, cursor };
  }
}

function withMembers(listed: ListRequest, members: Partial<QueryRequest>): ListRequest {
  return { ...listed, request: { ...listed.request, ...members } };
}

/** Returns the format of a table or of CSV. With `--all`, all columns of the database are named before the first page. */
async function rowFormat(
  reader: Reader,
  database: string,
  { kind }: ListRequest,
  records: readonly OrderedObject[],
  { all, csv, columns }: ListingOptions,
): Promise<RecordFormat> {
  const ofDatabase = all ? await columnsOfDatabase(reader, database) : undefined;
  const row = rowOf(kind, records, columns ?? ofDatabase, all && csv);
  if (!csv) return tableLines(row);
  // As in an export: a file with two columns of a name could not be imported.
  const taken = row.members.filter((name) => row.columns.includes(name));
  for (const name of taken)
    warn(`the data has a column "${name}", so the CSV lacks the ${name} of the records`);
  return csvLines({ ...row, members: row.members.filter((name) => !taken.includes(name)) });
}

/** What a row of a table shows of these records. */
export function rowOf(
  kind: ListRequest['kind'],
  records: readonly OrderedObject[],
  columns: string[] | undefined,
  mayHaveKeys = false,
): { members: string[]; columns: string[] } {
  const hasKeys = mayHaveKeys || records.some((record) => record.has('key'));
  return {
    members: [...(kind === 'search' ? [SCORE] : []), 'id', ...(hasKeys ? ['key'] : [])],
    columns: columns ?? columnsOfRecords(records),
  };
}

function columnsOfRecords(records: readonly OrderedObject[]): string[] {
  return [...new Set(records.flatMap((record) => [...(record.get('data') as OrderedObject).keys()]))];
}

async function columnsOfDatabase(reader: Reader, database: string): Promise<string[]> {
  try {
    return (await reader.databases.database(database).describe()).columns.map(({ name }) => name);
  } catch (error) {
    if (!isCode(error, 'forbidden')) throw error;
    const detail =
      'the API key may not list the columns of the database: name them with --columns, or use --json';
    throw new CosiftError('forbidden', detail, { cause: error });
  }
}
