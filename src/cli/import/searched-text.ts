import type { Row } from '../../readers/rows.js';
import { count, plural } from '../progress-bar.js';

const VISIBLE = /[^\s\p{Cc}]/u;

interface Column {
  name: string;
  isEmbedded: boolean;
  texts: number;
  numbers: number;
}

/** Counts the values and records that no search by meaning finds, although somebody may expect it. */
export class SearchedText {
  readonly #embed: readonly string[] | undefined;
  readonly #columns = new Map<string, Column>();
  /** The columns of the last record: most records have the same. */
  #last: { names: readonly string[]; columns: readonly Column[] } | undefined;
  #records = 0;
  #withoutText = 0;

  /** `embed` are the embedded columns of the database; without them, every text is embedded. */
  constructor(embed: readonly string[] | undefined) {
    this.#embed = embed;
  }

  /** Counts each record that is read. */
  async *watch(batches: AsyncIterable<Row[]>): AsyncGenerator<Row[]> {
    for await (const rows of batches) {
      for (const row of rows) this.observe(row);
      yield rows;
    }
  }

  observe({ names, values }: Row): void {
    if (this.#last?.names !== names) this.#last = { names, columns: names.map((name) => this.#column(name)) };
    let isSearched = false;
    for (const [at, column] of this.#last.columns.entries()) {
      // White space and control characters alone are no text.
      const elements = [values[at] ?? null]
        .flat()
        .filter((element) => element !== null && (typeof element !== 'string' || VISIBLE.test(element)));
      if (elements.length === 0) continue;
      const hasText = elements.some((element) => typeof element === 'string');
      if (hasText) column.texts += 1;
      else if (elements.some((element) => typeof element === 'number')) column.numbers += 1;
      // Chosen columns are embedded whatever they hold.
      isSearched ||= column.isEmbedded && (this.#embed !== undefined || hasText);
    }
    this.#records += 1;
    if (!isSearched) this.#withoutText += 1;
  }

  /** Describes for the user what is not searched. */
  report(): string[] {
    const lines: string[] = [];
    for (const { name, texts, numbers } of this.#columns.values()) {
      // A column of numbers alone is one to filter by.
      if (this.#embed !== undefined || numbers === 0 || texts === 0) continue;
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

  #column(name: string): Column {
    let column = this.#columns.get(name);
    if (column === undefined) {
      const isEmbedded = this.#embed === undefined || this.#embed.includes(name);
      column = { name, isEmbedded, texts: 0, numbers: 0 };
      this.#columns.set(name, column);
    }
    return column;
  }
}
