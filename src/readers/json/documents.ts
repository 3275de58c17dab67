import { LIMITS } from '../../schema/limits.js';
import type { ReadRow, RowPosition } from '../rows.js';
import { oneLine, rowOfJson } from './row.js';

const [QUOTE, BACKSLASH, NEWLINE, COMMA] = [0x22, 0x5c, 0x0a, 0x2c];
const [LIST, LIST_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d];
const isSpace = (byte: number) => byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;

/** The text of one value, with the position at which it begins. */
export interface DocumentText extends RowPosition {
  raw: string;
  /** Why the text is not the whole value. */
  reason?: string;
}

/**
 * Cuts JSON that is no NDJSON into its values: the elements of a list, or the values of several documents. A value may
 * extend over several lines. Its text is valid JSON only if the file is.
 */
export class DocumentSplitter {
  readonly #maxBytes: number;
  #line = 1;
  #insideList = false;
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** The parts of the value that is being read; undefined between values. */
  #parts: Uint8Array[] | undefined;
  #bytes = 0;
  #firstLine = 1;
  /** The number of values that began on `#firstLine`. */
  #record = 0;

  /** A longer value than `maxBytes` is not kept in memory. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(chunk: Uint8Array): DocumentText[] {
    const values: DocumentText[] = [];
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (byte === NEWLINE) this.#line += 1;
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) this.#inString = false;
        continue;
      }
      const between = isSpace(byte) || byte === COMMA || (byte === LIST_END && this.#insideList);
      if (this.#depth === 0 && between) {
        if (this.#parts !== undefined) values.push(this.#end(chunk.subarray(start, at)));
        if (byte === LIST_END) this.#insideList = false;
        continue;
      }
      if (this.#parts === undefined) {
        if (byte === LIST && !this.#insideList) {
          this.#insideList = true;
          continue;
        }
        this.#parts = [];
        this.#bytes = 0;
        this.#record = this.#firstLine === this.#line ? this.#record + 1 : 1;
        this.#firstLine = this.#line;
        start = at;
      }
      if (byte === QUOTE) this.#inString = true;
      else if (byte === OBJECT || byte === LIST) this.#depth += 1;
      else if (byte === OBJECT_END || byte === LIST_END) {
        this.#depth = Math.max(0, this.#depth - 1);
        if (this.#depth === 0) values.push(this.#end(chunk.subarray(start, at + 1)));
      }
    }
    if (this.#parts !== undefined) this.#extend(chunk.subarray(start));
    return values;
  }

  /** Returns what is left at the end of the file. */
  finish(): DocumentText[] {
    const values: DocumentText[] = [];
    if (this.#parts !== undefined) {
      if (this.#depth === 0 && !this.#inString) values.push(this.#end(new Uint8Array()));
      else values.push({ reason: 'the file ends inside of this value', ...this.#end(new Uint8Array()) });
    }
    if (this.#insideList) {
      values.push({
        line: this.#line,
        record: this.#firstLine === this.#line ? this.#record + 1 : 1,
        raw: '',
        reason: 'the list of the file is not closed: rows may be missing',
      });
    }
    return values;
  }

  #extend(part: Uint8Array): void {
    this.#bytes += part.length;
    if (this.#bytes <= this.#maxBytes) this.#parts?.push(part.slice());
    else this.#parts = [];
  }

  #end(last: Uint8Array): DocumentText {
    this.#extend(last);
    const position = { line: this.#firstLine, record: this.#record };
    const raw = textOf(this.#parts ?? []);
    this.#parts = undefined;
    if (this.#bytes <= this.#maxBytes) return { ...position, raw };
    return { ...position, raw: '', reason: `the value is longer than ${this.#maxBytes} bytes` };
  }
}

/** The text of UTF-8 in parts, which may divide characters. */
function textOf(parts: readonly Uint8Array[]): string {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  return parts.map((part) => decoder.decode(part, { stream: true })).join('') + decoder.decode();
}

/** Yields the rows of JSON that is no NDJSON: a list of objects, or objects that extend over several lines. */
export async function* rowsOfDocuments(
  chunks: AsyncIterable<Uint8Array>,
  idColumn?: string,
): AsyncGenerator<ReadRow[]> {
  const splitter = new DocumentSplitter(LIMITS.batch_bytes);
  const read = (values: ReturnType<DocumentSplitter['add']>) =>
    values.map(({ raw, reason, ...position }) =>
      reason === undefined
        ? rowOfJson(raw, position, idColumn)
        : { ...position, raw: () => oneLine(raw), reason },
    );
  for await (const chunk of chunks) {
    const rows = read(splitter.add(chunk));
    if (rows.length > 0) yield rows;
  }
  yield read(splitter.finish());
}
