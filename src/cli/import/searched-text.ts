import { languageNotice, TextLanguage } from '../../databases/index.js';
import type { Row } from '../../readers/rows.js';
import { count } from '../../schema/plain.js';
import { plural } from '../progress-bar.js';

const VISIBLE = /[^\s\p{Cc}]/u;

interface Column {
  name: string;
  isEmbedded: boolean;
  texts: number;
  numbers: number;
}

/** The database whose texts are searched. */
interface Searched {
  id: string;
  /** The embedded columns; without them, every text is embedded. */
  columns: readonly string[] | undefined;
  /** Whether the model knows English alone. */
  isEnglish: boolean;
}

/** Finds what no search by meaning finds, or only badly, although somebody may expect it: values, records, languages. */
export class SearchedText {
  readonly #id: string;
  readonly #embed: readonly string[] | undefined;
  /** Undefined if the model knows other languages, and once the user was told. */
  #language: TextLanguage | undefined;
  readonly #columns = new Map<string, Column>();
  /** The columns of the last record: most records have the same. */
  #last: { names: readonly string[]; columns: readonly Column[] } | undefined;
  #records = 0;
  #withoutText = 0;

  constructor({ id, columns, isEnglish }: Searched) {
    this.#id = id;
    this.#embed = columns;
    this.#language = isEnglish ? new TextLanguage() : undefined;
  }

  /** Counts each record that is read. Prints a notice of the language as soon as it is sure, because an import may take hours. */
  async *watch(batches: AsyncIterable<Row[]>, print: (text: string) => void): AsyncGenerator<Row[]> {
    for await (const rows of batches) {
      for (const row of rows) this.observe(row);
      if (this.#language?.isFull) for (const notice of this.#languageNotices()) print(notice);
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
      if (column.isEmbedded) this.#addTexts(elements);
      isSearched ||= column.isEmbedded && (this.#embed !== undefined || hasText);
    }
    this.#records += 1;
    if (!isSearched) this.#withoutText += 1;
  }

  /** Describes for the user what is not searched. */
  report(): string[] {
    const lines = this.#languageNotices();
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

  #addTexts(elements: readonly unknown[]): void {
    if (this.#language === undefined || this.#language.isFull) return;
    for (const element of elements) if (typeof element === 'string') this.#language.add(element);
  }

  /** What to tell of the language, once. */
  #languageNotices(): string[] {
    if (!this.#language?.isForeign) return [];
    this.#language = undefined;
    return [languageNotice(this.#id)];
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
