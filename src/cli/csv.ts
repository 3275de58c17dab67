import { pipeline, Readable } from 'node:stream';
import { type CsvError, type Info, parse } from 'csv-parse';

/** A row as a record in JSON, and the line of the file that it ends on. */
export interface CsvRecord {
  json: string;
  line: number;
}

type Value = string | number | boolean | null;

/**
 * Reads CSV whose first row names the columns. A column `id` or `uuid` becomes the record's identity.
 * A row that cannot be read is given to `onBad` and left out.
 */
export async function* recordsOfCsv(
  chunks: AsyncIterable<Uint8Array>,
  onBad: (line: number, detail: string) => void,
): AsyncGenerator<CsvRecord> {
  const parser = parse({
    bom: true,
    info: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    on_skip(error?: CsvError) {
      onBad(Number(error?.lines ?? 0), error?.message.replace(/ on line \d+$/, '') ?? 'cannot be read');
      return undefined;
    },
  });
  // The loop below throws what this passes on to the parser.
  pipeline(Readable.from(chunks), parser, () => undefined);
  let header: string[] | undefined;
  for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: Info }>) {
    if (header === undefined) header = checkHeader(record);
    else yield { json: JSON.stringify(recordOf(header, record)), line: info.lines };
  }
}

function checkHeader(names: string[]): string[] {
  const trimmed = names.map((name) => name.trim());
  const empty = trimmed.indexOf('');
  if (empty >= 0) throw new Error(`column ${empty + 1} of the CSV header has no name`);
  const twice = trimmed.find((name, at) => trimmed.indexOf(name) !== at);
  if (twice !== undefined) throw new Error(`the CSV header names the column "${twice}" twice`);
  return trimmed;
}

function recordOf(header: readonly string[], row: readonly string[]): object {
  // No prototype: `__proto__` is an ordinary column name.
  const data: Record<string, Value> = Object.create(null);
  const identity: { id?: Value; uuid?: Value } = {};
  for (const [at, column] of header.entries()) {
    const text = row[at] ?? '';
    if (column === 'id') identity.id = parseValue(text);
    else if (column === 'uuid') identity.uuid = text === '' ? null : text;
    else data[column] = parseValue(text);
  }
  // An empty identity is one that the service is to make.
  if (identity.id === null) delete identity.id;
  if (identity.uuid === null) delete identity.uuid;
  return { ...identity, data };
}

/** A number only where it is written as JSON writes one: `007` and `1e400` stay text. */
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

export function parseValue(text: string): Value {
  if (text === '') return null;
  if (text === 'true') return true;
  if (text === 'false') return false;
  const number = Number(text);
  return NUMBER.test(text) && Number.isFinite(number) ? number : text;
}
