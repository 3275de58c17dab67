import { isUtf8 } from 'node:buffer';
import iconv from 'iconv-lite';
import { type Content, openContent } from './content.js';
import { type CsvLayout, type DialectOptions, detectLayout, linesAboveHeader } from './csv/dialect.js';
import type { CsvHeader } from './csv/header.js';
import { rowsOfCsv } from './csv/rows.js';
import { encodingOfMark, LegacyDetector } from './encoding/detection.js';
import { isUtf8Name, toUtf8 } from './encoding/utf8.js';
import { rowsOfDocuments } from './json/documents.js';
import { rowsOfNdjson } from './json/lines.js';
import { isJsonObject } from './json/object.js';
import { refuseWrapper, wrappedList } from './json/wrapper.js';
import type { FormatName } from './option-text.js';
import { shellWord } from './option-text.js';
import { refuseNoTable, refuseOtherFormats, refuseOtherTexts } from './other-formats.js';
import { isParquet } from './parquet/file.js';
import { ParquetRows } from './parquet/rows.js';
import { openFile, temporaryCopy } from './parquet/temporary-file.js';
import type { PeekableStream } from './peekable-stream.js';
import type { ReadRow } from './rows.js';
import type { Source } from './source.js';

/** Options of how a file is read. What they leave open is detected. */
export interface FormatOptions extends DialectOptions {
  format?: FormatName;
  encoding?: string;
  /** The column that identifies the records. */
  idColumn?: string;
  /** Texts of CSV that stand for no value. */
  null?: string[];
}

/** How a file is read. */
export interface Format {
  name: FormatName;
  /** The format in words, such as `CSV, separated by ";", windows-1252`. */
  description: string;
  /** What the number of a row counts. */
  unit: 'line' | 'row';
  /** Whether the values of the file have types; every value of CSV is text. */
  typed: boolean;
  /** Texts that stand for no value. */
  nulls: ReadonlySet<string>;
  encoding: string;
  /** The options that a few rows alone need to be read as in the whole file. */
  options: readonly string[];
  /** Whether `rows` can be called several times: not for a pipe, unless it was copied to a file. */
  isRepeatable: boolean;
  /** The number of rows, if the file states it. */
  total?: number;
  rows(): AsyncGenerator<ReadRow[]>;
  /** The beginning of a CSV file in a pipe, as a format of its own, from which types are inferred. */
  sample?: () => AsyncGenerator<ReadRow[]>;
  /** The header of a CSV file, once `rows` has read it. `raw` is its text with the lines above it. */
  header: { raw: string } & Pick<CsvHeader, 'names' | 'notes'>;
  /** The number of empty lines of a CSV file, once `rows` has read all of it. */
  emptyLines: number;
}

/** Bytes from which encoding, separator and quotes are detected, and for a pipe the types of the columns. */
const SAMPLE_BYTES = 1 << 18;
const NEWLINE = 0x0a;
const NO_NULLS: ReadonlySet<string> = new Set();
const NO_HEADER = { raw: '', names: [], notes: [] };

/** Called with the number of rows that were read so far, and the share that they are; undefined if it is not known. */
export type OnRead = (rows: number, share: number | undefined) => void;

/**
 * Detects how a source is read, from its content and not from its name. `skips` returns whether a column need not be read.
 */
export async function detectFormat(
  source: Source,
  options: FormatOptions,
  skips: (name: string) => boolean,
  onProgress: OnRead,
): Promise<Format> {
  const content = await openContent(source);
  if (options.format === 'parquet' || isParquet(content.magic)) {
    return parquetFormat(source, content, skips, onProgress);
  }
  if (options.format === undefined) refuseOtherFormats(content.magic);
  const stream = content.open();
  const sample = await sampleOf(stream);
  const encoding = options.encoding ?? (await detectEncoding(sample, source, content));
  const text = textOf(sample, encoding);
  const isWhole = stream.isWhole;
  const isRepeatable = source.file !== undefined;
  if (isRepeatable) await stream.close();
  if (text.trim() === '' && options.format === undefined) throw new Error('the file is empty');
  if (options.format === undefined) refuseOtherTexts(text);
  const name = options.format ?? nameOf(text);
  const bytes = () => content.open().chunks();
  const notes = [
    ...(isUtf8Name(encoding) ? [] : [encoding]),
    ...(content.compression === undefined ? [] : [content.compression]),
  ];
  if (name === 'json' || name === 'ndjson') {
    if (options.format === undefined) refuseWrapper(text, isWhole);
    // The lines of NDJSON in UTF-8 are checked one by one.
    const checked = () => toUtf8(bytes(), encoding);
    const lines = isUtf8Name(encoding) ? bytes : checked;
    const { idColumn } = options;
    const rows = () =>
      name === 'json' ? rowsOfDocuments(checked(), idColumn) : rowsOfNdjson(lines(), idColumn);
    const description = [name === 'json' ? 'JSON' : 'NDJSON', ...notes].join(', ');
    return {
      name,
      description,
      unit: 'line',
      typed: true,
      nulls: NO_NULLS,
      encoding,
      options: [],
      rows,
      isRepeatable,
      header: NO_HEADER,
      emptyLines: 0,
    };
  }
  const separator = options.separator ?? (options.format === 'tsv' ? '\t' : undefined);
  const dialectOptions = { ...options, ...(separator && { separator }) };
  const found = detectLayout(text, isWhole, dialectOptions);
  // Whoever names a character of CSV says that the file is CSV.
  if (options.format === undefined && options.separator === undefined && options.quote === undefined) {
    refuseNoTable(found, (minShare) => linesAboveHeader(text, isWhole, dialectOptions, minShare));
  }
  const { layout } = found;
  const header: Format['header'] = { raw: '', names: [], notes: [] };
  let emptyLines = 0;
  const nulls: ReadonlySet<string> = new Set(options.null);
  const calls = {
    nulls,
    onHeader: (raw: string, { names, notes }: CsvHeader) => Object.assign(header, { raw, names, notes }),
    onEnd: (lines: number) => {
      emptyLines = lines;
    },
  };
  async function* sampleBytes() {
    yield Buffer.from(isWhole ? text : text.slice(0, text.lastIndexOf(layout.lineEnd) + 1));
  }
  return {
    name: layout.separator === '\t' ? 'tsv' : 'csv',
    description: [...described(layout, options.quote !== undefined), ...notes].join(', '),
    unit: 'line',
    typed: false,
    nulls,
    encoding,
    options: options.quote === undefined ? quoteOption(layout) : [],
    rows: () => rowsOfCsv(toUtf8(bytes(), encoding), layout, calls),
    isRepeatable,
    ...(!isRepeatable && { sample: () => rowsOfCsv(sampleBytes(), layout, calls) }),
    header,
    get emptyLines() {
      return emptyLines;
    },
  };
}

/** Detects the encoding of a whole file that turned out not to be UTF-8. */
export async function detectLegacyEncoding(content: Content): Promise<string | undefined> {
  const detector = new LegacyDetector();
  for await (const chunk of content.open().chunks()) detector.observe(chunk);
  return detector.encoding;
}

async function detectEncoding(sample: Uint8Array, source: Source, content: Content): Promise<string> {
  const marked = encodingOfMark(sample);
  if (marked !== undefined) return marked;
  if (isUtf8(sample) || isUtf8(sample.subarray(0, sample.lastIndexOf(NEWLINE) + 1))) return 'utf-8';
  if (source.file !== undefined) return (await detectLegacyEncoding(content)) ?? 'utf-8';
  const detector = new LegacyDetector();
  detector.observe(sample);
  return detector.encoding ?? 'utf-8';
}

/**
 * Returns the beginning of a text: for JSON at least its first line, because a pipe of JSON may pause after each line. One
 * object in which a list is nearly all may be the whole file: more is waited for.
 */
async function sampleOf(stream: PeekableStream): Promise<Uint8Array> {
  const start = await stream.peekUntil((head) => firstCharacter(head) !== undefined);
  const isJson = ['{', '['].includes(firstCharacter(start) ?? '');
  return stream.peekUntil((head) => {
    if (head.length >= SAMPLE_BYTES) return true;
    return isJson && head.includes(NEWLINE, 1) && wrappedList(Buffer.from(head).toString()) === undefined;
  });
}

/** Returns the first character that is neither a space nor a byte order mark of UTF-8. */
function firstCharacter(head: Uint8Array): string | undefined {
  const at = head.findIndex((byte) => ![0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf].includes(byte));
  return at < 0 ? undefined : String.fromCharCode(head[at] ?? 0);
}

function textOf(sample: Uint8Array, encoding: string): string {
  const text = iconv.decode(Buffer.from(sample), encoding);
  return text.replace(/^\ufeff/, '').replace(/\ufffd$/, '');
}

/** Names the format of a text by its beginning. */
function nameOf(text: string): FormatName {
  const start = text.trimStart();
  if (/^\[\s*([[{"\]]|null\b|true\b|false\b|-?\d+(\.\d+)?\s*[,\]]|$)/.test(start)) return 'json';
  if (!start.startsWith('{')) return 'csv';
  const lines = start.split('\n');
  // A line that is an object shows NDJSON, even if the first line is damaged.
  if (lines.some((line) => line.startsWith('{') && isJsonObject(line))) return 'ndjson';
  return /^\{\s*("|$)/.test(lines[0] ?? '') ? 'json' : 'ndjson';
}

function quoteOption({ quote }: CsvLayout): string[] {
  return quote === '"' ? [] : [`--quote ${quote === '' ? 'none' : shellWord(quote)}`];
}

function described({ separator, quote }: CsvLayout, isGiven: boolean): string[] {
  const how = quote === '' ? 'without quotes' : `quoted by ${quote}`;
  const quoted = quote === '"' ? [] : [isGiven ? how : `${how} (--quote changes it)`];
  if (separator === '\t') return ['TSV', ...quoted];
  return ['CSV', ...(separator === ',' ? [] : [`separated by "${separator}"`]), ...quoted];
}

async function parquetFormat(
  source: Source,
  content: Content,
  skips: (name: string) => boolean,
  onProgress: OnRead,
): Promise<Format> {
  const { compression } = content;
  // The end of a Parquet file says where its rows are.
  const file =
    source.file !== undefined && compression === undefined
      ? openFile(source.file)
      : await temporaryCopy(content.open().chunks());
  const parquet = await ParquetRows.open(file, skips, onProgress);
  return {
    name: 'parquet',
    description: ['Parquet', ...(compression === undefined ? [] : [compression])].join(', '),
    unit: 'row',
    typed: true,
    nulls: NO_NULLS,
    encoding: 'utf-8',
    options: [],
    rows: () => parquet.read(source.stop),
    total: parquet.total,
    isRepeatable: true,
    header: NO_HEADER,
    emptyLines: 0,
  };
}
