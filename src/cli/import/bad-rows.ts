import { stat } from 'node:fs/promises';
import iconv from 'iconv-lite';
import { describe, printable } from '../failure.js';
import { count } from '../progress-bar.js';
import type { Format } from './format.js';
import type { Input } from './input.js';
import { OrderedFile } from './ordered-file.js';
import { nameOfPlace, type Place, type RawText } from './rows.js';

/** Reports that are printed. Files with one mistake in every row would hide everything else. */
const MAX_PRINTED = 20;

/** Reports the rows that are not stored, and writes them to a file in the form of the input. */
export class BadRows {
  readonly #print: (text: string) => void;
  readonly #places = new Set<string>();
  readonly #file: string | undefined;
  #unit: Format['unit'] = 'line';
  #rows: OrderedFile | undefined;
  #reasons: OrderedFile | undefined;
  #encoding = 'utf-8';
  /** The option with which the bad rows alone get the same types and keys as in the whole file. */
  #typesOption = '';

  /** `file`: where the rows are written. `print` writes one report to the terminal. */
  constructor(file: string | undefined, print: (text: string) => void) {
    this.#file = file;
    this.#print = print;
  }

  /** @throws {Error} when the file cannot be written, or is the file that is imported. */
  async open(input: Input): Promise<void> {
    const { format } = input;
    this.#unit = format.unit;
    if (this.#file === undefined) return;
    this.#typesOption = optionOf(input.decidedTypes());
    for (const written of [this.#file, reasonsFile(this.#file)]) {
      if (input.file === undefined || !(await isSameFile(written, input.file))) continue;
      throw new Error(`--bad-rows names the file that is imported: it would replace ${written}`);
    }
    this.#encoding = format.encoding;
    const mark = /^utf-?16/i.test(this.#encoding) ? '\ufeff' : '';
    const head = format.header.raw === '' ? '' : `${mark}${format.header.raw}\n`;
    try {
      this.#rows = await OrderedFile.at(this.#file, iconv.encode(head, this.#encoding));
      this.#reasons = await OrderedFile.at(reasonsFile(this.#file), new Uint8Array());
    } catch (error) {
      throw new Error(`--bad-rows: ${describe(error)}`);
    }
  }

  /** Number of rows that are not stored. */
  get count(): number {
    return this.#places.size;
  }

  has(place: Place): boolean {
    return this.#places.has(keyOf(place));
  }

  add({ raw, ...place }: Place & { raw: RawText }, reason: string): void {
    if (this.has(place)) return;
    const text = `${nameOfPlace(place, this.#unit)}: ${printable(reason)}`;
    this.#reasons?.add(place, Buffer.from(`${text}\n`));
    this.#rows?.add(place, iconv.encode(`${raw()}\n`, this.#encoding));
    this.#places.add(keyOf(place));
    if (this.count <= MAX_PRINTED) this.#print(text);
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
    if (this.count === 0) return;
    const places = `are in ${this.#file}, the reasons in ${reasonsFile(this.#file)}`;
    this.#print(
      isComplete
        ? `the bad rows ${places}: correct them and import that file with the same options${this.#typesOption}`
        : `the bad rows until then ${places}`,
    );
  }

  close(): void {
    this.#rows?.close();
    this.#reasons?.close();
  }
}

function keyOf({ line, record = 1 }: Place): string {
  return `${line}:${record}`;
}

/** A few rows alone may suggest other types: `11` is a number where the other rows have `007`. */
function optionOf(types: readonly (readonly [name: string, type: string])[]): string {
  if (types.length === 0) return '';
  const value = types.map(([name, type]) => `${name}=${type}`).join(',');
  return ` and --types ${/^[\w.,=-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`}`;
}

function reasonsFile(file: string): string {
  return `${file}.reasons`;
}

/** Whether two paths lead to one file, also by symbolic or hard links. */
async function isSameFile(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((file) => stat(file).catch(() => undefined)));
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino;
}
