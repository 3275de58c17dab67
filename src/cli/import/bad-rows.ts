import { fstatSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import iconv from 'iconv-lite';
import { isUtf8Name } from '../../readers/encoding/utf8.js';
import type { Input } from '../../readers/input.js';
import { shellWord } from '../../readers/option-text.js';
import { nameOfPosition, type RejectedRow, type RowPosition } from '../../readers/rows.js';
import { count } from '../../schema/plain.js';
import { describe, printable } from '../failure.js';
import { OrderedFile } from './ordered-file.js';

/** Reports that are printed. Files with one mistake in every row would hide everything else. */
const MAX_PRINTED = 20;

/** Reports the rows that are not stored, and writes them to a file in the form of the input. */
export class BadRows {
  readonly #print: (text: string) => void;
  readonly #positions = new Set<string>();
  readonly #file: string | undefined;
  readonly #isEncodingGiven: boolean;
  #input: Input | undefined;
  #rows: OrderedFile | undefined;
  #reasons: OrderedFile | undefined;
  /** The columns of the rows; undefined once those of a row could not be read. */
  #columns: Set<string> | undefined = new Set();
  /** Number of rows whose text was not kept. */
  #withoutText = 0;

  /** The rows are written to `file`. `encoding` is an option. `print` writes one report to the terminal. */
  constructor(
    { file, encoding }: { file?: string | undefined; encoding?: string | undefined },
    print: (text: string) => void,
  ) {
    this.#file = file;
    this.#isEncodingGiven = encoding !== undefined;
    this.#print = print;
  }

  /** @throws {Error} when the file cannot be written, or is the file that is imported. */
  async open(input: Input): Promise<void> {
    this.#input = input;
    if (this.#file === undefined) return;
    for (const written of [this.#file, reasonsFile(this.#file)]) {
      if (!(await isInput(written, input))) continue;
      throw new Error(`--bad-rows names the file that is imported: it would replace ${written}`);
    }
    const { header, encoding } = input.format;
    const mark = hasMark(encoding) ? '\ufeff' : '';
    const head = header.raw === '' ? mark : `${mark}${header.raw}\n`;
    try {
      this.#rows = await OrderedFile.at(this.#file, encoded(head, encoding));
      // A device or a pipe has no file beside it; the first reasons are printed.
      if (!this.#rows.isFile) return;
      this.#reasons = await OrderedFile.at(reasonsFile(this.#file), new Uint8Array());
      if (this.#rows.isSame(this.#reasons)) throw new Error(`${reasonsFile(this.#file)} is the same file`);
    } catch (error) {
      throw new Error(`--bad-rows: ${describe(error)}`);
    }
  }

  /** Number of rows that are not stored. */
  get count(): number {
    return this.#positions.size;
  }

  has(position: RowPosition): boolean {
    return this.#positions.has(keyOf(position));
  }

  add({ raw, names, ...position }: RejectedRow, reason: string): void {
    if (this.has(position)) return;
    const text = `${nameOfPosition(position, this.#input?.format.unit ?? 'line')}: ${printable(reason)}`;
    this.#reasons?.add(position, Buffer.from(`${text}\n`));
    if (this.#rows !== undefined) this.#addRow(this.#rows, position, raw());
    if (names === undefined) this.#columns = undefined;
    else for (const name of names) this.#columns?.add(name);
    this.#positions.add(keyOf(position));
    if (this.count <= MAX_PRINTED) this.#print(text);
  }

  #addRow(rows: OrderedFile, position: RowPosition, row: string | Uint8Array): void {
    if (row.length === 0) this.#withoutText += 1;
    else if (typeof row === 'string') rows.add(position, encoded(`${row}\n`, this.#encoding));
    else rows.add(position, Buffer.concat([row, Buffer.from('\n')]));
  }

  /**
   * Prints how many reports were not printed, writes the files, and prints where they are. `isComplete`: whether all rows
   * of the input were read. Files of an earlier import stay when there is nothing else to say in their place.
   */
  async write(isComplete: boolean): Promise<void> {
    if (this.count > MAX_PRINTED) this.#print(`and ${count(this.count - MAX_PRINTED)} more bad rows`);
    if (this.#file === undefined || (this.count === 0 && !isComplete)) return;
    await this.#rows?.write();
    await this.#reasons?.write();
    const kept = this.count - this.#withoutText;
    if (kept > 0) this.#printPlaces(this.#file, isComplete);
    if (this.#withoutText === 0) return;
    const which = kept === 0 ? 'the bad rows' : `${count(this.#withoutText)} of them`;
    this.#print(`${which}, which are too long or cut off, are only in the imported file`);
  }

  #printPlaces(file: string, isComplete: boolean): void {
    const reasons = this.#reasons === undefined ? '' : `, the reasons in ${reasonsFile(file)}`;
    const places = `are in ${file}${reasons}`;
    this.#print(
      isComplete
        ? `the bad rows ${places}: correct them and import that file with the same options${this.#furtherOptions()}`
        : `the bad rows until then ${places}`,
    );
  }

  close(): void {
    this.#rows?.close();
    this.#reasons?.close();
  }

  get #encoding(): string {
    return this.#input?.format.encoding ?? 'utf-8';
  }

  /** The options with which the bad rows alone are read as in the whole file, which decides types, keys and encoding. */
  #furtherOptions(): string {
    // The rows of JSON alone have only their own columns, and an option for another one is refused.
    const columns = this.#input?.format.typed ? this.#columns : undefined;
    const types = this.#input?.decidedTypes().filter(([name]) => columns?.has(name) !== false) ?? [];
    const isDetected = !this.#isEncodingGiven && !isUtf8Name(this.#encoding) && !hasMark(this.#encoding);
    const options = [
      ...(isDetected ? [`--encoding ${this.#encoding}`] : []),
      ...(this.#input?.format.options ?? []),
      ...(types.length > 0 ? [optionOf(types)] : []),
    ];
    return options.map((option) => ` and ${option}`).join('');
  }
}

function keyOf({ line, record = 1 }: RowPosition): string {
  return `${line}:${record}`;
}

/** A few rows alone may suggest other types: `11` is a number where the other rows have `007`. */
function optionOf(types: readonly (readonly [name: string, type: string])[]): string {
  return `--types ${shellWord(types.map(([name, type]) => `${name}=${type}`).join(','))}`;
}

function reasonsFile(file: string): string {
  return `${file}.reasons`;
}

/** Whether a file of this encoding begins with a byte order mark, by which it is recognised. */
function hasMark(encoding: string): boolean {
  return /^utf-?(16|32)/i.test(encoding);
}

/** Encodes a part of a file. For some encodings, iconv-lite would begin every part with a byte order mark. */
function encoded(text: string, encoding: string): Uint8Array {
  return iconv.encode(text, encoding, { addBOM: false });
}

/** Whether a path leads to the imported file, also by symbolic or hard links, or to the file of standard input. */
async function isInput(file: string, input: Input): Promise<boolean> {
  const [written, read] = await Promise.all([
    stat(file).catch(() => undefined),
    input.file === undefined ? fstatSync(0) : stat(input.file).catch(() => undefined),
  ]);
  return written?.isFile() === true && written.dev === read?.dev && written.ino === read.ino;
}
