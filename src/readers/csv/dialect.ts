import { isValue } from '../notes.js';
import { type CsvRow, CsvSplitter, type Dialect } from './splitter.js';

const SEPARATORS = [',', ';', '\t', '|'];
/** With these, files are quoted as spreadsheets do it. Dumps that never quote have other separators. */
const QUOTED_SEPARATORS = [',', ';'];
/** The share of the values of a column that must have quotes, so that quotes belong to the format and not to a text. */
const THROUGHOUT = 0.5;

/** Options that set a part of the dialect, which is then not detected. */
export interface DialectOptions {
  /** The character between fields. */
  separator?: string;
  /** The character around fields; '' for none. */
  quote?: string;
  skipLines?: number;
}

/** How a CSV file is read. */
export interface CsvLayout extends Dialect {
  /**
   * Whether it is certain what quotes are: an option says so, or a row has the fields of the header only with quotes.
   * Otherwise a quote may belong to a text, and the field that it opens may take in rows.
   */
  isQuoteCertain: boolean;
  /** Number of the last field that is not empty in some row: separators at the end of all rows make no columns. */
  usedFields: number;
}

/** What the beginning of a CSV file shows. */
export interface CsvSample {
  layout: CsvLayout;
  /** The fields of the first row. */
  names: readonly string[];
  /** The share of the rows, and of the lines that are none, that have as many fields as the first row. */
  sameShare: number;
  /** The number of fields that most rows have. */
  usualFields: number;
  rows: number;
  /** The line of the first row. */
  line: number;
}

/** The first line by which Excel declares the separator. */
const DECLARATION = /^sep=([^"\r\n])(?=\r*\n|\r|$)/i;

/** Returns whether the first row of a file declares its separator, so that it is not the header. */
export function declaresSeparator({ line, raw }: CsvRow): boolean {
  return line === 1 && DECLARATION.test(raw);
}

/** Detects how a CSV file separates rows and fields from its beginning. `isWhole`: the sample is the whole file. */
export function detectLayout(sample: string, isWhole: boolean, options: DialectOptions): CsvSample {
  const { skipLines: skippedLines = 0 } = options;
  const given = options.separator ?? (skippedLines === 0 ? DECLARATION.exec(sample)?.[1] : undefined);
  const separators = given === undefined ? SEPARATORS : [given];
  const readings = lineEndsOf(sample).flatMap((lineEnd) =>
    separators.map((separator) =>
      bestQuote(sample, isWhole, { separator, lineEnd, skippedLines }, options.quote),
    ),
  );
  // A reading of one row shows nothing while another one has several. That of an earlier candidate is more usual.
  const several = readings.filter(({ rows }) => rows.length > 1);
  const best = (several.length > 0 ? several : readings).reduce((first, reading) =>
    reading.score > first.score ? reading : first,
  );
  return sampleOf(best);
}

/** Spreadsheets of the Macintosh ended rows with `\r`, and may have `\n` within fields. */
function lineEndsOf(sample: string): Dialect['lineEnd'][] {
  if (!sample.includes('\r') || sample.includes('\r\n')) return ['\n'];
  if (!sample.includes('\n')) return ['\r'];
  return sample.split('\r').length > sample.split('\n').length ? ['\n', '\r'] : ['\n'];
}

/** A sample that is read with a dialect. */
interface Reading {
  dialect: Dialect;
  rows: CsvRow[];
  names: readonly string[];
  /** Number of lines in rows that cannot be read or that have not as many fields as the first row. */
  badLines: number;
  sameShare: number;
  score: number;
  /** Whether the sample shows that the quotes quote something. */
  isQuoteCertain: boolean;
}

/**
 * Reads a sample with the quotes that fit. Quotes are characters of the text when more lines have the fields of the header
 * without them, and nothing else shows that they quote. Between commas and semicolons, a field that only takes in what
 * looks like rows shows nothing: it may be a text of several lines.
 */
function bestQuote(
  sample: string,
  isWhole: boolean,
  dialect: Omit<Dialect, 'quote'>,
  given: string | undefined,
): Reading {
  const read = (quote: string) => readingOf(sample, isWhole, { ...dialect, quote });
  if (given !== undefined) return { ...read(given), isQuoteCertain: true };
  const [unquoted, double, single] = [read(''), read('"'), read("'")];
  // Single quotes are quotes only if they quote throughout; otherwise they are apostrophes.
  const quoted = single.rows.slice(1).filter(({ raw }) => isQuoted(raw, single.dialect));
  const isSingle =
    single.score > double.score
      ? quoted.length > 0 && quoted.length >= (single.rows.length - 1) * THROUGHOUT
      : single.badLines === 0 && quotesThroughout(unquoted, "'") && !quotesThroughout(unquoted, '"');
  const best = isSingle ? single : double;
  const isQuoteCertain =
    quotesSomething(unquoted, best.dialect.quote) || best.rows.some((row) => isProof(row, best));
  return unquoted.badLines < best.badLines && !isQuoteCertain ? unquoted : { ...best, isQuoteCertain };
}

function readingOf(sample: string, isWhole: boolean, dialect: Dialect): Reading {
  const splitter = new CsvSplitter(dialect, sample.length);
  const rows = splitter.add(sample);
  // The end of the sample divides its last row.
  const end = isWhole || rows.length === 0 ? splitter.finish() : [];
  rows.push(...end);
  if (rows[0] !== undefined && declaresSeparator(rows[0])) rows.shift();
  const names = rows[0]?.fields ?? [];
  const width = names.length;
  const mayTakeRows = !QUOTED_SEPARATORS.includes(dialect.separator);
  const bad = rows.filter((row) => !hasFields(row, width) || (mayTakeRows && takesRows(row, dialect, width)));
  const cut = splitter.rest.split(dialect.lineEnd).length - 1;
  const badLines = bad.reduce((sum, row) => sum + lostLines(row, dialect, width), 0) + cut;
  const sameShare = 1 - badLines / Math.max(1, rows.length - bad.length + badLines);
  const isTable = width > 1 && rows[0]?.reason === undefined;
  // Of two readings of as many rows, the one with quotes is more usual, then the one with more columns.
  const usual = dialect.quote === '' ? 0 : 1;
  const score = isTable ? Math.round(sameShare * 1000) * 2 + usual + Math.min(width, 999) / 1000 : 0;
  return { dialect, rows, names, badLines, sameShare, score, isQuoteCertain: dialect.quote === '' };
}

/**
 * Returns whether a row can be read and has as many fields as the header, or at least `min`. Separators at the end of a row
 * do not count.
 */
export function hasFields({ fields, reason }: CsvRow, width: number, min: number = width): boolean {
  return reason === undefined && fields.length >= min && !fields.slice(width).some((field) => field !== '');
}

function linesOf({ raw }: CsvRow, { lineEnd }: Dialect): string[] {
  return raw.split(lineEnd).map((line) => line.replace(/\r+$/, ''));
}

/**
 * Returns how many rows are lost by one that is wrong. A row whose quotes are closed may have texts of several lines; those
 * that look like rows are lost with it.
 */
function lostLines(row: CsvRow, dialect: Dialect, width: number): number {
  const lines = linesOf(row, dialect);
  if (row.reason !== undefined) return lines.length;
  return Math.max(1, lines.filter((line) => isLikeRow(line, dialect, width)).length);
}

/** Returns whether a line has the fields of the header without quotes. */
function isLikeRow(line: string, { separator }: Dialect, width: number): boolean {
  return line.split(separator).length === width;
}

/**
 * Returns whether a field with line ends seems to take in rows: most of its lines, and the first and the last, have the
 * fields of the header without quotes. A text of several lines has so many separators only by chance.
 */
export function takesRows(row: CsvRow, dialect: Dialect, width: number): boolean {
  if (dialect.quote === '' || width < 2 || !row.raw.includes(dialect.lineEnd)) return false;
  const lines = linesOf(row, dialect).filter((line) => line !== '');
  const isRow = (line = '') => isLikeRow(line, dialect, width);
  return isRow(lines[0]) && isRow(lines.at(-1)) && lines.filter(isRow).length * 2 > lines.length;
}

function isQuoted(raw: string, { separator, quote }: Dialect): boolean {
  return raw.startsWith(quote) || raw.includes(separator + quote);
}

const isPair = (field: string, quote: string) =>
  field.length > 1 && field.startsWith(quote) && field.endsWith(quote);

/** Returns whether most values of a column have quotes, in a sample that is read without quotes. */
function quotesThroughout({ rows, names }: Reading, quote: string): boolean {
  const values = names.map(() => ({ all: 0, quoted: 0 }));
  for (const { fields } of rows.slice(1)) {
    for (const [at, field] of fields.entries()) {
      const column = values[at];
      if (field === '' || column === undefined) continue;
      column.all += 1;
      if (isPair(field.trim(), quote)) column.quoted += 1;
    }
  }
  return values.some(({ all, quoted }) => quoted > 0 && quoted >= all * THROUGHOUT);
}

/** Returns whether a sample that is read without quotes shows that they quote: throughout, or by doubled quotes. */
function quotesSomething(unquoted: Reading, quote: string): boolean {
  const isEscaped = (field: string) => isPair(field, quote) && field.slice(1, -1).includes(quote + quote);
  return quotesThroughout(unquoted, quote) || unquoted.rows.some(({ fields }) => fields.some(isEscaped));
}

/** Returns whether a row has the fields of the header only with quotes. */
function isProof(row: CsvRow, { dialect, names }: Reading): boolean {
  const { quote, separator } = dialect;
  return (
    quote !== '' &&
    row.raw.includes(quote) &&
    hasFields(row, names.length) &&
    !takesRows(row, dialect, names.length) &&
    row.raw.split(separator).length !== row.fields.length
  );
}

function sampleOf({ dialect, rows, names, sameShare, isQuoteCertain }: Reading): CsvSample {
  const width = names.length;
  const counts = new Map<number, number>();
  let usedFields = 0;
  for (const { fields, reason } of rows.slice(1)) {
    if (reason !== undefined) continue;
    counts.set(fields.length, (counts.get(fields.length) ?? 0) + 1);
    if (fields.length <= width)
      usedFields = Math.max(usedFields, fields.findLastIndex((field) => field !== '') + 1);
  }
  const [usualFields = width] = [...counts].sort(([, a], [, b]) => b - a)[0] ?? [];
  return {
    layout: { ...dialect, isQuoteCertain, usedFields },
    names,
    sameShare,
    usualFields,
    rows: rows.length,
    line: rows[0]?.line ?? 1,
  };
}

/** The share of rows with the number of fields of the header from which a text is a table. */
export const TABLE_SHARE = 0.5;
/** Lines above a header that are looked for. */
const MAX_LINES_ABOVE = 20;
/** Characters in which the header is looked for. */
const HEADER_SAMPLE = 1 << 15;

/** Returns how many lines are above the header of a table that begins further down; undefined when no line looks like one. */
export function linesAboveHeader(
  sample: string,
  isWhole: boolean,
  options: DialectOptions,
  minShare: number,
): number | undefined {
  const start = sample.slice(0, HEADER_SAMPLE);
  const hasEnd = isWhole && start.length === sample.length;
  for (let skipLines = 1; skipLines <= MAX_LINES_ABOVE; skipLines += 1) {
    const { names, sameShare, rows, line } = detectLayout(start, hasEnd, { ...options, skipLines });
    if (rows < 2) return undefined;
    const isHeader = names.length > 1 && names.every((name) => name !== '' && !isValue(name));
    if (isHeader && sameShare >= minShare) return line - 1;
  }
  return undefined;
}
