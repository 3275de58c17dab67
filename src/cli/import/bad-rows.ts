import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { realpath, unlink } from 'node:fs/promises';
import iconv from 'iconv-lite';
import { printable } from '../failure.js';
import { count } from '../progress-bar.js';
import type { Format } from './format.js';
import type { Input } from './input.js';
import type { RawText } from './rows.js';

/** Reports that are printed. Files with one mistake in every row would hide everything else. */
const MAX_PRINTED = 20;

/** Reports the rows that are not stored, and writes them to a file in the form of the input. */
export class BadRows {
  readonly #print: (text: string) => void;
  readonly #lines = new Set<number>();
  readonly #file: string | undefined;
  #unit: Format['unit'] = 'line';
  #rows: WriteStream | undefined;
  #reasons: WriteStream | undefined;
  #encoding = 'utf-8';
  /** The option with which the keys of the rows stay keys. */
  #keyOption = '';

  /** `file`: where the rows are written. `print` writes one report to the terminal. */
  constructor(file: string | undefined, print: (text: string) => void) {
    this.#file = file;
    this.#print = print;
  }

  /** @throws {Error} when the rows would be written to the file that is imported. */
  async open({ file: input, format, identity }: Input): Promise<void> {
    this.#unit = format.unit;
    if (this.#file === undefined) return;
    // The rows alone may all have integers.
    if (identity?.kind === 'key') this.#keyOption = ` and --types ${identity.column}=text`;
    const same =
      input !== undefined && (await realpath(this.#file).catch(() => undefined)) === (await realpath(input));
    if (same) throw new Error('--bad-rows names the file that is imported');
    this.#encoding = format.encoding;
    this.#rows = createWriteStream(this.#file);
    this.#reasons = createWriteStream(reasonsFile(this.#file));
    await Promise.all([once(this.#rows, 'open'), once(this.#reasons, 'open')]);
    const mark = /^utf-?16/i.test(this.#encoding) ? '\ufeff' : '';
    if (format.header.raw !== '') this.#write(`${mark}${format.header.raw}`);
  }

  /** Number of rows that are not stored. */
  get count(): number {
    return this.#lines.size;
  }

  has(line: number): boolean {
    return this.#lines.has(line);
  }

  add({ line, raw }: { line: number; raw: RawText }, reason: string): void {
    if (this.#lines.has(line)) return;
    this.#lines.add(line);
    const text = `${this.#unit} ${line}: ${printable(reason)}`;
    if (this.count <= MAX_PRINTED) this.#print(text);
    this.#reasons?.write(`${text}\n`);
    if (this.#rows !== undefined) this.#write(raw());
  }

  /** Prints how many reports were not printed, and where the rows are. */
  async close(): Promise<void> {
    if (this.count > MAX_PRINTED) this.#print(`and ${count(this.count - MAX_PRINTED)} more bad rows`);
    if (this.#file === undefined || this.#rows === undefined || this.#reasons === undefined) return;
    for (const stream of [this.#rows, this.#reasons]) {
      stream.end();
      await once(stream, 'close');
    }
    const files = [this.#file, reasonsFile(this.#file)];
    if (this.count === 0) await Promise.all(files.map((file) => unlink(file)));
    else
      this.#print(
        `the bad rows are in ${files.join(', the reasons in ')}: correct them and import that file with the same options${this.#keyOption}`,
      );
  }

  #write(row: string): void {
    this.#rows?.write(iconv.encode(`${row}\n`, this.#encoding));
  }
}

function reasonsFile(file: string): string {
  return `${file}.reasons`;
}
