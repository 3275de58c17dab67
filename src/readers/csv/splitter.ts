/** How a CSV file separates its rows and fields. */
export interface Dialect {
  separator: string;
  /** The character around fields that contain a separator or a line end; '' for none. */
  quote: string;
  /** `\n` includes `\r\n` and `\r\r\n`. */
  lineEnd: '\n' | '\r';
  /** Number of lines above the header, which are no rows. */
  skippedLines: number;
}

export interface CsvRow {
  fields: string[];
  /** The indexes of the fields that have quotes. */
  quoted?: ReadonlySet<number>;
  /** The line on which the row begins. */
  line: number;
  /** The text of the row without its line end. */
  raw: string;
  /** Why the row cannot be read. */
  reason?: string;
}

/** A row in the text. `end` is the end of its text, `next` the start of the next row. */
type RowInText = Omit<CsvRow, 'line' | 'raw'> & { end: number; next: number };

/**
 * Cuts the text of a CSV file into rows and fields (RFC 4180). Spaces around a quoted field do not count. A row that cannot
 * be read is returned with its text and a reason; the next row begins on the line after it. Empty lines are skipped.
 *
 * csv-parse does not do this: after a wrong quote, it returns the text of the row only up to the quote, and loses the rows
 * after it.
 */
export class CsvSplitter {
  readonly #dialect: Dialect;
  readonly #maxLength: number;
  #text = '';
  #line = 1;
  /** The length that `#text` must have before an incomplete row is read again, so that a long row takes linear time. */
  #wanted = 0;
  /** The rest of a line that is too long is skipped. */
  #skipping = false;
  /** The text of the lines above the header. */
  skipped = '';
  /** Number of empty lines, which are no rows. */
  emptyLines = 0;

  /** A row of more than `maxLength` characters is not kept in memory. */
  constructor(dialect: Dialect, maxLength: number) {
    this.#dialect = dialect;
    this.#maxLength = maxLength;
  }

  /** Adds text, and returns the rows that it completes. */
  add(text: string): CsvRow[] {
    this.#text += text;
    return this.#text.length < this.#wanted ? [] : this.#rows(false);
  }

  /** Returns the rows that the end of the file completes. */
  finish(): CsvRow[] {
    return this.#rows(true);
  }

  /** The text of a row that is not complete yet. */
  get rest(): string {
    return this.#text;
  }

  #rows(isEnd: boolean): CsvRow[] {
    const rows: CsvRow[] = [];
    let at = this.#skipping ? this.#skipLine(0) : this.#skipAboveHeader();
    if (this.#line <= this.#dialect.skippedLines) return rows;
    while (at < this.#text.length) {
      const row = this.#row(at, isEnd);
      if (row === undefined) {
        if (this.#text.length - at <= this.#maxLength) break;
        rows.push(this.#tooLong());
        this.#line += count(this.#text, this.#dialect.lineEnd, at, this.#text.length);
        at = this.#skipLine(this.#text.length);
        continue;
      }
      const { end, next, ...read } = row;
      const raw = this.#text.slice(at, end);
      if (raw === '') this.emptyLines += 1;
      else rows.push({ ...read, line: this.#line, raw });
      this.#line += count(this.#text, this.#dialect.lineEnd, at, next);
      at = next;
    }
    this.#text = this.#text.slice(at);
    this.#wanted = this.#text.length * 2;
    return rows;
  }

  /** Passes the complete lines above the header, and returns the start of the next line. */
  #skipAboveHeader(): number {
    let at = 0;
    while (this.#line <= this.#dialect.skippedLines) {
      const line = this.#lineEnd(at);
      if (line === undefined) break;
      this.#line += 1;
      at = line.next;
    }
    this.skipped += this.#text.slice(0, at);
    this.#text = this.#text.slice(at);
    return 0;
  }

  /** Reads the row at `start`; undefined when it is incomplete. */
  #row(start: number, isEnd: boolean): RowInText | undefined {
    const { separator, quote } = this.#dialect;
    const line = this.#lineEnd(start, isEnd);
    if (line === undefined) return undefined;
    const { end, next } = line;
    const text = this.#text.slice(start, end);
    if (quote === '' || !text.includes(quote)) return { fields: text.split(separator), end, next };
    return this.#quotedRow(start, isEnd);
  }

  #quotedRow(start: number, isEnd: boolean): RowInText | undefined {
    const { separator, quote } = this.#dialect;
    const fields: string[] = [];
    const quoted = new Set<number>();
    let at = start;
    for (;;) {
      const open = this.#afterSpaces(at);
      if (!this.#text.startsWith(quote, open)) {
        const line = this.#lineEnd(at, isEnd);
        if (line === undefined) return undefined;
        const { end, next } = line;
        const found = this.#text.indexOf(separator, at);
        const fieldEnd = found < 0 || found > end ? end : found;
        const field = this.#text.slice(at, fieldEnd);
        if (field.includes(quote)) {
          const reason = `field ${fields.length + 1} has a quote inside, but does not begin with one`;
          return { fields, end, next, reason };
        }
        fields.push(field);
        if (fieldEnd === end) return { fields, quoted, end, next };
        at = fieldEnd + separator.length;
        continue;
      }
      const close = this.#closingQuote(open);
      if (close === undefined) {
        if (!isEnd) return undefined;
        const next = this.#text.length;
        const end = start + this.#text.slice(start).trimEnd().length;
        return { fields, end, next, reason: `the quote of field ${fields.length + 1} is not closed` };
      }
      const after = this.#afterSpaces(close + 1);
      // The next chunk may continue with a second quote, or with the other half of a line end.
      if (after + 1 > this.#text.length - 1 && !isEnd) return undefined;
      quoted.add(fields.length);
      fields.push(this.#text.slice(open + 1, close).replaceAll(quote + quote, quote));
      at = after;
      if (this.#text.startsWith(separator, at)) {
        at += separator.length;
        continue;
      }
      const line = this.#lineEnd(at, isEnd);
      if (line === undefined) return undefined;
      const { end, next } = line;
      if (end === at) return { fields, quoted, end, next };
      const character = String.fromCodePoint(this.#text.codePointAt(at) ?? 0);
      const reason = `the closing quote of field ${fields.length} is followed by "${character}": a quote within quotes is written twice`;
      return { fields, end, next, reason };
    }
  }

  /** Returns the index of the quote that closes the field at `start`. */
  #closingQuote(start: number): number | undefined {
    const { quote } = this.#dialect;
    for (let at = this.#text.indexOf(quote, start + 1); at >= 0; at = this.#text.indexOf(quote, at + 2)) {
      if (!this.#text.startsWith(quote, at + 1)) return at;
    }
    return undefined;
  }

  #afterSpaces(from: number): number {
    let at = from;
    if (this.#dialect.separator !== ' ') while (this.#text[at] === ' ') at += 1;
    return at;
  }

  /** Returns the end of the line at `from`, and the start of the next line. `isEnd`: the last line needs no line end. */
  #lineEnd(from: number, isEnd = false): { end: number; next: number } | undefined {
    const at = this.#text.indexOf(this.#dialect.lineEnd, from);
    if (at < 0 && !isEnd) return undefined;
    let end = at < 0 ? this.#text.length : at;
    const next = at < 0 ? end : at + 1;
    while (end > from && this.#text[end - 1] === '\r') end -= 1;
    return { end, next };
  }

  #tooLong(): CsvRow {
    const reason = `the row is longer than ${this.#maxLength} characters; a quote may not be closed`;
    return { fields: [], line: this.#line, raw: '', reason };
  }

  /** Returns the start of the line after `from`, or the end of the text. */
  #skipLine(from: number): number {
    const line = this.#lineEnd(from);
    this.#skipping = line === undefined;
    if (line === undefined) return this.#text.length;
    this.#line += 1;
    return line.next;
  }
}

function count(text: string, character: string, start: number, end: number): number {
  let found = 0;
  for (let at = text.indexOf(character, start); at >= 0 && at < end; at = text.indexOf(character, at + 1)) {
    found += 1;
  }
  return found;
}
