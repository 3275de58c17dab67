import { LIMITS } from '../../schema/limits.js';
import type { ReadRow } from '../rows.js';
import { type CsvLayout, declaresSeparator, hasFields, takesRows } from './dialect.js';
import { type CsvHeader, headerOf } from './header.js';
import { type CsvRow, CsvSplitter } from './splitter.js';

export interface CsvCalls {
  /** Called with the text of the header and of the lines above it. */
  onHeader?(raw: string, header: CsvHeader): void;
  /** Called at the end of the file. */
  onEnd?(emptyLines: number): void;
  /** Texts that stand for no value where they have no quotes. */
  nulls?: ReadonlySet<string>;
}

/**
 * Yields the rows of a CSV file after its header.
 *
 * @throws {Error} for a header that cannot be used.
 */
export async function* rowsOfCsv(
  chunks: AsyncIterable<Uint8Array>,
  layout: CsvLayout,
  { onHeader, onEnd, nulls = new Set() }: CsvCalls = {},
): AsyncGenerator<ReadRow[]> {
  const splitter = new CsvSplitter(layout, LIMITS.batch_bytes);
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let declaration = '';
  let header: CsvHeader | undefined;
  const read = (rows: CsvRow[]): ReadRow[] => {
    if (header === undefined) {
      if (declaration === '' && rows[0] !== undefined && declaresSeparator(rows[0])) {
        declaration = `${rows.shift()?.raw}\n`;
      }
      const first = rows.shift();
      if (first === undefined) return [];
      header = headerOf(first, layout.usedFields);
      onHeader?.(splitter.skipped + declaration + first.raw, header);
    }
    const columns = header;
    return rows.map((row) => rowOf(row, columns, layout, nulls));
  };
  for await (const chunk of chunks) {
    const rows = read(splitter.add(decoder.decode(chunk, { stream: true })));
    if (rows.length > 0) yield rows;
  }
  const rows = read(splitter.finish());
  if (header === undefined) throw new Error('the CSV file has no header');
  onEnd?.(splitter.emptyLines);
  yield rows;
}

function rowOf(row: CsvRow, header: CsvHeader, layout: CsvLayout, nulls: ReadonlySet<string>): ReadRow {
  const { fields, quoted, line, raw: text } = row;
  const { names } = header;
  const raw = () => text;
  const reason = problemOf(row, header, layout);
  if (reason !== undefined) return { line, raw, reason };
  const isNull = (field: string, at: number) => (field === '' || nulls.has(field)) && !quoted?.has(at);
  const cells = names.map((_, at) => {
    const field = fields[at] ?? '';
    return isNull(field, at) ? null : field;
  });
  return { line, raw, names, cells };
}

/** Says why a row is no record; undefined for a row that is one. */
function problemOf(
  row: CsvRow,
  { names, width, minFields }: CsvHeader,
  layout: CsvLayout,
): string | undefined {
  const { fields, line, raw, reason } = row;
  const { quote, isQuoteCertain } = layout;
  const isDoubtful = quote !== '' && !isQuoteCertain && raw.includes(quote);
  const isRow = hasFields(row, names.length, minFields);
  const isTaking = isDoubtful && takesRows(row, layout, width);
  if (isRow && !isTaking) return undefined;
  const lines = raw.split(layout.lineEnd).length;
  const last = line + lines - 1;
  if (isRow) {
    return (
      `a quote takes in the lines to ${last}, which look like rows: ` +
      `--quote none reads them as rows, --quote ${quote === "'" ? `"'"` : `'${quote}'`} as one`
    );
  }
  const reach = lines > 1 ? `; with it, the row reaches to line ${last}` : '';
  const advice = isDoubtful ? '; if quotes are characters of the texts, give --quote none' : '';
  if (reason !== undefined) return reason + reach + advice;
  const comment = raw.startsWith('#') ? "; comments can be left out, for example by grep -v '^#'" : '';
  const [found, expected] = [counted(fields, 'field'), counted(names, 'column')];
  return `the row has ${found}, the header ${expected}${reach}${advice}${comment}`;
}

function counted({ length }: readonly unknown[], noun: string): string {
  return `${length} ${noun}${length === 1 ? '' : 's'}`;
}
