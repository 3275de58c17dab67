import { count, plural } from '../progress-bar.js';
import type { Row } from './rows.js';

/** What a value is to a search by meaning: a character of {@link Row.kinds}. */
export const KIND = { text: 't', number: 'n', boolean: 'b', nothing: '-' } as const;

const VISIBLE = /[^\s\p{Cc}]/u;

/** Returns the kind of a value. White space and control characters alone are no text. */
export function kindOf(value: string | number | boolean | null): string {
  if (typeof value === 'string') return VISIBLE.test(value) ? KIND.text : KIND.nothing;
  if (value === null) return KIND.nothing;
  return typeof value === 'number' ? KIND.number : KIND.boolean;
}

/** Counts the values and records that no search by meaning finds, although somebody may expect it. */
export class SearchedText {
  readonly #embed: readonly string[] | undefined;
  /** Of each column, the numbers of its values by their kind. */
  readonly #columns = new Map<string, Map<string, number>>();
  #records = 0;
  #withoutText = 0;

  /** `embed` are the embedded columns of the database; without them, every text is embedded. */
  constructor(embed: readonly string[] | undefined) {
    this.#embed = embed;
  }

  /** Counts each record that is read. */
  async *watch(batches: AsyncIterable<Row[]>): AsyncGenerator<Row[]> {
    for await (const rows of batches) {
      for (const row of rows) this.#observe(row);
      yield rows;
    }
  }

  /** Describes for the user what is not searched. */
  report(): string[] {
    const lines: string[] = [];
    for (const [name, kinds] of this.#columns) {
      const numbers = kinds.get(KIND.number) ?? 0;
      // A column of numbers alone is one to filter by. Chosen columns are embedded whatever they hold.
      if (this.#embed !== undefined || numbers === 0 || !kinds.has(KIND.text)) continue;
      const have = `${plural(numbers, 'record')} ${numbers === 1 ? 'has' : 'have'} a number in the embedded column "${name}"`;
      lines.push(`${have}, which is not searched: --types ${name}=text`);
    }
    if (this.#withoutText > 0) {
      const have = `${count(this.#withoutText)} of ${plural(this.#records, 'record')} `;
      const where = this.#embed === undefined ? '' : ` in the embedded columns (${this.#embed.join(', ')})`;
      lines.push(
        `${have}${this.#withoutText === 1 ? 'has' : 'have'} no text${where}, so no search by meaning finds ` +
          `${this.#withoutText === 1 ? 'it' : 'them'}`,
      );
    }
    return lines;
  }

  #observe({ names, kinds }: Row): void {
    let isSearched = false;
    for (const [at, name] of names.entries()) {
      const kind = kinds[at]!;
      if (kind === KIND.nothing) continue;
      if (this.#embed === undefined) {
        isSearched ||= kind === KIND.text;
        this.#count(name, kind);
      } else isSearched ||= this.#embed.includes(name);
    }
    this.#records += 1;
    if (!isSearched) this.#withoutText += 1;
  }

  #count(name: string, kind: string): void {
    let kinds = this.#columns.get(name);
    if (kinds === undefined) {
      kinds = new Map();
      this.#columns.set(name, kinds);
    }
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
}
