import { stat } from 'node:fs/promises';
import path from 'node:path';
import iconv from 'iconv-lite';
import { printable } from '../failure.js';
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
    const directory = path.dirname(this.#file);
    const found = await stat(directory).catch(() => undefined);
    if (!found?.isDirectory()) throw new Error(`--bad-rows: there is no directory ${directory}`);
    this.#encoding = format.encoding;
    const mark = /^utf-?16/i.test(this.#encoding) ? '\ufeff' : '';
    const head = format.header.raw === '' ? '' : `${mark}${format.header.raw}\n`;
    this.#rows = new OrderedFile(this.#file, iconv.encode(head, this.#encoding));
    this.#reasons = new OrderedFile(reasonsFile(this.#file), new Uint8Array());
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
    this.#places.add(keyOf(place));
    const text = `${nameOfPlace(place, this.#unit)}: ${printable(reason)}`;
    if (this.count <= MAX_PRINTED) this.#print(text);
    this.#reasons?.add(place, Buffer.from(`${text}\n`));
    this.#rows?.add(place, iconv.encode(`${raw()}\n`, this.#encoding));
  }

  /** Prints how many reports were not printed, and where the rows are. */
  close(): void {
    if (this.count > MAX_PRINTED) this.#print(`and ${count(this.count - MAX_PRINTED)} more bad rows`);
    this.#rows?.close();
    this.#reasons?.close();
    if (this.#file === undefined || this.#reasons === undefined || this.count === 0) return;
    this.#print(
      `the bad rows are in ${this.#file}, the reasons in ${reasonsFile(this.#file)}: ` +
        `correct them and import that file with the same options${this.#typesOption}`,
    );
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
