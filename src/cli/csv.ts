import { pipeline, Readable } from 'node:stream';
import { type CsvError, type Info, parse } from 'csv-parse';
import { LIMITS } from '../schema/index.js';
import { ColumnTypes, parseField } from './column-types.js';
import { COMMA, CsvColumns } from './csv-columns.js';
import { BadRow, canonical, type Identities, parseId, uuidOfKey } from './identities.js';
import type { ColumnOptions, OnBadLine, Part, Row } from './rows.js';

/** Other common separators, and how a shell passes each to `--separator`. */
const OTHER_SEPARATORS: readonly (readonly [string, string])[] = [
  [';', "';'"],
  ['\t', 'tab'],
  ['|', "'|'"],
];

/**
 * Reads a whole CSV file to infer the types of its columns.
 *
 * @throws {Error} for an invalid header.
 */
export async function inspectCsv(
  chunks: AsyncIterable<Uint8Array>,
  options: ColumnOptions,
): Promise<CsvColumns> {
  const found = new ColumnTypes();
  let names: readonly string[] | undefined;
  // Bad rows are reported later, when the records are read.
  for await (const { fields, line } of rowsOf(chunks, options.separator ?? COMMA, () => undefined)) {
    if (names === undefined) names = checkHeader(fields, line, options.separator);
    else found.observe(fields);
  }
  if (names === undefined) throw new Error('the CSV file has no header');
  return new CsvColumns(names, found, options);
}

/** Yields the records of one part of a CSV file as JSON. Rows that cannot be parsed are reported with the first part. */
export async function* recordsOfCsv(
  chunks: AsyncIterable<Uint8Array>,
  columns: CsvColumns,
  part: Part,
  identities: Identities,
  onBad: OnBadLine,
): AsyncGenerator<Row> {
  let header = true;
  const report = part === columns.parts[0] ? onBad : () => undefined;
  for await (const { fields, line } of rowsOf(chunks, columns.separator, report)) {
    if (header) {
      header = false;
      continue;
    }
    const hasId = columns.id >= 0 && fields[columns.id] !== '';
    if (hasId !== (part === 'with-id')) continue;
    try {
      const json = Buffer.from(`${JSON.stringify(recordOf(columns, fields, line, identities))}\n`);
      yield { json, line };
    } catch (error) {
      if (!(error instanceof BadRow)) throw error;
      onBad(line, error.message);
    }
  }
}

async function* rowsOf(
  chunks: AsyncIterable<Uint8Array>,
  separator: string,
  onBad: OnBadLine,
): AsyncGenerator<{ fields: string[]; line: number }> {
  let badHeader: Error | undefined;
  /** The line at which the last row ended, and the number of empty lines before it. */
  let last = { line: 0, empty: 0 };
  const parser = parse({
    info: true,
    delimiter: separator,
    // A quote that is never closed must not load the rest of the file into memory.
    max_record_size: LIMITS.batch_bytes,
    skip_empty_lines: true,
    skip_records_with_error: true,
    on_record(record: string[], { lines, empty_lines }: Info) {
      last = { line: lines, empty: empty_lines };
      return record;
    },
    on_skip(error?: CsvError) {
      const end = Number(error?.lines ?? 0);
      const empty = Number(error?.empty_lines ?? 0);
      // A row with an open quote extends over the following lines: report its first line.
      const line = Math.min(end, last.line + 1 + empty - last.empty);
      last = { line: end, empty };
      const reason =
        error?.message.replace(/[ ,]*(on|at|with an opening quote at) line \d+.*$/, '') ?? 'cannot be read';
      const detail =
        line === end ? reason : `${reason}: a quote in this row opens a field that reaches to line ${end}`;
      // Otherwise, the next row would be used as the header.
      if (error?.records === 0)
        badHeader ??= new Error(`line ${line}: the CSV header cannot be read: ${detail}`);
      onBad(line, detail);
      return undefined;
    },
  });
  // The parser fails with the errors of the source, and the loop below throws them.
  pipeline(Readable.from(chunks), parser, () => undefined);
  for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: Info }>) {
    if (badHeader !== undefined) throw badHeader;
    yield { fields: record, line: info.lines };
  }
}

function checkHeader(names: readonly string[], line: number, separator: string | undefined): string[] {
  const trimmed = names.map((name) => name.trim());
  const [first = ''] = trimmed;
  const other = OTHER_SEPARATORS.find(([character]) => names[0]?.includes(character));
  if (trimmed.length === 1 && separator === undefined && other !== undefined) {
    throw new Error(
      `line ${line}: the CSV header has one column, "${first}": if its fields are separated otherwise, give ` +
        `--separator ${other[1]}; if it is one column, give --separator ','`,
    );
  }
  const control = trimmed.findIndex((name) => /\p{Cc}/u.test(name));
  if (control >= 0) {
    throw new Error(
      `line ${line}: the name of column ${control + 1} of the CSV header has a control character; ` +
        'if the file is UTF-16, give --encoding utf-16le',
    );
  }
  const empty = trimmed.indexOf('');
  if (empty >= 0) throw new Error(`line ${line}: column ${empty + 1} of the CSV header has no name`);
  const twice = trimmed.find((name, at) => trimmed.indexOf(name) !== at);
  if (twice !== undefined) {
    const places = trimmed.flatMap((name, at) => (name === twice ? [at + 1] : []));
    throw new Error(
      `line ${line}: the CSV header names the column "${twice}" twice, as columns ${places.join(' and ')}`,
    );
  }
  return trimmed;
}

function recordOf(columns: CsvColumns, fields: readonly string[], line: number, identities: Identities) {
  // No prototype: `__proto__` is an ordinary column name.
  const data: Record<string, string | number | boolean | null> = Object.create(null);
  for (const [at, name] of columns.names.entries()) {
    if (!columns.isData(at)) continue;
    try {
      data[name] = parseField(fields[at] ?? '', columns.types[at] ?? 'string');
    } catch (error) {
      throw new BadRow(`column "${name}": ${(error as Error).message}`);
    }
  }
  const field = (at: number) => (at < 0 ? '' : (fields[at] ?? ''));
  const id =
    field(columns.id) === '' ? undefined : parseId(field(columns.id), columns.names[columns.id] ?? '');
  let uuid = field(columns.uuid) === '' ? undefined : field(columns.uuid);
  if (columns.key >= 0) {
    const key = field(columns.key);
    uuid = uuidOfKey(key, columns.names[columns.key] ?? '');
    identities.add({ id, uuid, key }, line);
  } else if (id !== undefined || uuid !== undefined) {
    identities.add({ id, uuid }, line);
  } else {
    // From the text of the file, so that a row keeps its identity when the type of a column changes.
    uuid = identities.uuidOfContent(canonical(columns.names.map((name, at) => [name, fields[at] ?? ''])));
  }
  return { ...(id !== undefined && { id }), ...(uuid !== undefined && { uuid }), data };
}
