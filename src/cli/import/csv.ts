import { LIMITS } from '../../schema/limits.js';
import { declaresSeparator } from './csv-dialect.js';
import { type CsvRow, CsvSplitter, type Dialect } from './csv-rows.js';
import type { ReadRow } from './rows.js';

/**
 * Yields the rows of a CSV file after its header.
 *
 * @throws {Error} for a header that cannot be used.
 */
export async function* rowsOfCsv(
  chunks: AsyncIterable<Uint8Array>,
  dialect: Dialect,
  onHeader: (raw: string, names: readonly string[]) => void = () => undefined,
): AsyncGenerator<ReadRow[]> {
  const splitter = new CsvSplitter(dialect, LIMITS.batch_bytes);
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let declaration = '';
  let names: readonly string[] | undefined;
  const read = (rows: CsvRow[]): ReadRow[] => {
    if (names === undefined) {
      if (declaration === '' && rows[0] !== undefined && declaresSeparator(rows[0])) {
        declaration = `${rows.shift()?.raw}\n`;
      }
      const header = rows.shift();
      if (header === undefined) return [];
      names = namesOf(header);
      onHeader(declaration + header.raw, names);
    }
    const columns = names;
    return rows.map((row) => rowOf(row, columns));
  };
  for await (const chunk of chunks) {
    const rows = read(splitter.add(decoder.decode(chunk, { stream: true })));
    if (rows.length > 0) yield rows;
  }
  const rows = read(splitter.finish());
  if (names === undefined) throw new Error('the CSV file has no header');
  yield rows;
}

function rowOf({ fields, quotedEmpty, line, raw: text, reason }: CsvRow, names: readonly string[]): ReadRow {
  const raw = () => text;
  if (reason !== undefined) {
    const lines = text.split('\n').length;
    const reach = lines > 1 ? `; with it, the row reaches to line ${line + lines - 1}` : '';
    return { line, raw, reason: reason + reach };
  }
  // Spreadsheets end rows with separators after the last column.
  const extra = fields.slice(names.length).find((field) => field !== '');
  if (fields.length < names.length || extra !== undefined) {
    const [row, header] = [counted(fields, 'field'), counted(names, 'column')];
    return { line, raw, reason: `the row has ${row}, the header ${header}` };
  }
  return { line, raw, names, cells: names.map((_, at) => fields[at] || (quotedEmpty?.has(at) ? '' : null)) };
}

function counted({ length }: readonly unknown[], noun: string): string {
  return `${length} ${noun}${length === 1 ? '' : 's'}`;
}

/** Returns the names of the columns. Separators at the end of the header name no columns. */
function namesOf({ fields, line, reason }: CsvRow): string[] {
  if (reason !== undefined) throw new Error(`line ${line}: the CSV header cannot be read: ${reason}`);
  const names = fields.map((name) => name.trim());
  while (names.length > 1 && names.at(-1) === '') names.pop();
  const control = names.findIndex((name) => /\p{Cc}/u.test(name));
  if (control >= 0) {
    throw new Error(
      `line ${line}: the name of column ${control + 1} of the CSV header has a control character; ` +
        'the separator or the encoding may be another one (cosift import --separator, --encoding)',
    );
  }
  const empty = names.indexOf('');
  if (empty >= 0) throw new Error(`line ${line}: column ${empty + 1} of the CSV header has no name`);
  const places = new Map<string, number>();
  for (const [at, name] of names.entries()) {
    const earlier = places.get(name);
    if (earlier !== undefined) {
      throw new Error(
        `line ${line}: the CSV header names the column "${name}" twice, as columns ${earlier} and ${at + 1}`,
      );
    }
    places.set(name, at + 1);
  }
  return names;
}
