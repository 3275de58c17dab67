import { type CsvSample, TABLE_SHARE } from './csv/dialect.js';

/** First bytes of files that cannot be imported, and what to do with them. */
const OTHERS: readonly (readonly [string, string])[] = [
  ['PK\u0003\u0004', 'a ZIP archive or a spreadsheet: extract it, or save it as CSV'],
  ['\u00d0\u00cf\u0011\u00e0', 'a spreadsheet: save it as CSV'],
  ['BZh', 'compressed by bzip2: decompress it with `bzip2 -d`'],
  ['\u00fd7zXZ', 'compressed by xz: decompress it with `xz -d`'],
  ['SQLite format 3', 'a SQLite database: export its table as CSV'],
  ['%PDF-', 'a PDF document'],
  ['ARROW1', 'an Arrow file: save it as Parquet'],
  ['Obj\u0001', 'an Avro file: save it as Parquet or JSON'],
];

/** @throws {Error} for the beginning of a file in a known format that cannot be imported. */
export function refuseOtherFormats(head: Uint8Array): void {
  const text = Buffer.from(head).toString('latin1');
  const other = OTHERS.find(([magic]) => text.startsWith(magic));
  if (other !== undefined) throw new Error(`the file is ${other[1]}`);
}

/** Control characters other than white space. A text may have a few by mistake. */
const CONTROL = /[^\P{Cc}\t\n\f\r]/gu;
const MAX_CONTROLS = 8;
/** Beginnings of texts that are no table. */
const MARKUP = /^<(?:!doctype|html|\?xml|svg|head|body)\b/i;
/** The share of rows from which lines are a table below a line that could be the header of one column. */
const SURE_SHARE = 0.9;
/** The name of the only column of a file. The first line of a program or of prose looks otherwise. */
const COLUMN_NAME = /^(["']?)[\p{L}_][\p{L}\p{N} _.\-/%()[\]]{0,63}\1$/u;

/** @throws {Error} for the beginning of a text that is neither JSON nor a table, when the format is detected. */
export function refuseOtherTexts(text: string): void {
  const start = text.trimStart();
  const controls = text.match(CONTROL)?.length ?? 0;
  if (controls > Math.max(MAX_CONTROLS, text.length / 20)) {
    throw new Error('the file is no text: it contains many control characters');
  }
  if (MARKUP.test(start)) throw new Error('the file is an HTML or XML document: save its table as CSV');
}

/**
 * `linesAbove` returns the number of lines above the header, if the table begins further down, where at least the share
 * `minShare` of the rows has its number of fields.
 *
 * @throws {Error} for a text in which most rows have another number of fields than the first, and for one column without
 * a name or above a table.
 */
export function refuseNoTable(
  { names: fields, sameShare, usualFields }: CsvSample,
  linesAbove: (minShare: number) => number | undefined,
): void {
  // The lines of many programs end with a separator.
  const names = fields.map((field) => field.trim()).filter((name) => name !== '');
  const isTable = sameShare >= TABLE_SHARE && (names.length > 1 || COLUMN_NAME.test(names[0] ?? ''));
  if (isTable && names.length > 1) return;
  const above = linesAbove(isTable ? SURE_SHARE : TABLE_SHARE);
  if (names.length > 1 && usualFields === names.length + 1) {
    const title =
      above === undefined ? '' : `if the header is line ${above + 1}, give --skip-lines ${above}; `;
    throw new Error(
      `the first line has ${names.length} fields, and most have ${usualFields}: ${title}if the first column has no name, ` +
        'as that of the row names of R, put a name and a separator in front of the first line',
    );
  }
  if (isTable && above === undefined) return;
  const count = `${fields.length} ${fields.length === 1 ? 'field' : 'fields'}`;
  const reason =
    sameShare < TABLE_SHARE
      ? `the first line has ${count}, and most have ${usualFields}`
      : `the first line is ${isTable ? 'above a table' : 'neither JSON nor the names of columns'}`;
  const header = above === undefined ? '' : `the header may be line ${above + 1}: --skip-lines ${above}; `;
  throw new Error(`the file seems to be no table: ${reason}; ${header}if it is CSV, give --format csv`);
}
