import { type Cell, Nested } from './cells.js';
import { listOf } from './json/object.js';
import type { SourceRow } from './rows.js';

/** Values of a column that are looked at. The others are as these are. */
const MAX_VALUES = 10_000;
/** From this many words per value on, a column holds sentences, however often they repeat. */
const SENTENCE_WORDS = 5;
/** A longer text with spaces is language. */
const MAX_NAME = 200;

const MONTH = String.raw`(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\p{L}*\.?`;

/** No language: numbers, also with a unit; dates with letters; addresses; JSON; UUIDs and hashes; no value. */
const OTHER = [
  /^\P{L}*$/u,
  /^\P{L}{0,4}\d[\d.,:\s]*\P{N}{0,4}$/u,
  new RegExp(
    String.raw`^(\p{L}{3,9},?\s+)?(\d{1,2}\.?[\s-]+${MONTH}|${MONTH}\s+\d{1,2},?|${MONTH})[\s-]+\d{2,4}\b`,
    'iu',
  ),
  /^\d{4}-\d{2}-\d{2}T\S*$/i,
  /^([a-z][a-z\d+.-]*:|www\.)\S+$/i,
  /^\S+@\S+$/,
  /^[[{].*[\]}]$/s,
  /^[\da-f-]{32,}$/i,
  /^(true|false|yes|no|null|none|nan)$/i,
];
/** A word alone with a digit or a separator, or of a few capitals: `SKU-000123`, `img/a_b.png`, `EUR`. */
const CODE = [/^\S*[\p{N}_/\\]\S*$/u, /^\p{Lu}{1,5}$/u];

function kindOf(value: string): 'language' | 'code' | 'other' {
  if (value.length > MAX_NAME) return /\s/.test(value) && !/^[[{]/.test(value) ? 'language' : 'other';
  if (OTHER.some((form) => form.test(value))) return 'other';
  return CODE.some((form) => form.test(value)) ? 'code' : 'language';
}

class TextColumn {
  #values = 0;
  #language = 0;
  #codes = 0;
  #words = 0;
  readonly #distinct = new Set<string>();
  isText = false;
  /** Values that are no texts. */
  others = 0;

  observe(cell: Cell): void {
    const elements = cell instanceof Nested ? (listOf(cell.json) ?? []) : [cell];
    const texts = elements.filter((element) => typeof element === 'string');
    if (texts.length === 0 && cell !== null) this.others += 1;
    for (const text of texts) this.#observeText(text);
  }

  #observeText(text: string): void {
    this.isText = true;
    const value = text.trim();
    if (value === '' || this.#values === MAX_VALUES) return;
    this.#values += 1;
    this.#distinct.add(value.slice(0, MAX_NAME));
    const kind = kindOf(value);
    if (kind === 'code') this.#codes += 1;
    if (kind !== 'language') return;
    this.#language += 1;
    this.#words += value.split(/\s+/).length;
  }

  /** Whether the values have words, if only codes. */
  get hasWords(): boolean {
    return this.#values > 0 && this.#language + this.#codes >= this.#values / 2;
  }

  get isLanguage(): boolean {
    return this.#language > 0 && this.#language >= this.#values / 2;
  }

  /** Whether the values tell what a record is: sentences, or names that mostly differ. A category has the same few values. */
  get isTelling(): boolean {
    const areSentences = this.#words >= SENTENCE_WORDS * this.#language;
    return this.isLanguage && (areSentences || this.#distinct.size >= this.#values / 2);
  }
}

/** Finds the columns of a file that are worth a search by meaning. */
export class TextColumns {
  readonly #columns = new Map<string, TextColumn>();

  observe({ names, cells }: SourceRow): void {
    for (const [at, name] of names.entries()) {
      let column = this.#columns.get(name);
      if (column === undefined) {
        column = new TextColumn();
        this.#columns.set(name, column);
      }
      column.observe(cells[at] ?? null);
    }
  }

  /** Whether a column has texts, and the number of its values that are none. */
  of(name: string): { isText: boolean; others: number } {
    const { isText = false, others = 0 } = this.#columns.get(name) ?? {};
    return { isText, others };
  }

  /** The columns among `names` whose texts tell what a record is; without any, those of categories, and then of codes. */
  telling(names: readonly string[]): readonly string[] {
    for (const isKind of ['isTelling', 'isLanguage', 'hasWords'] as const) {
      const found = names.filter((name) => this.#columns.get(name)?.[isKind]);
      if (found.length > 0) return found;
    }
    return [];
  }
}
