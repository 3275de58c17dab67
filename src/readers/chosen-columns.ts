import { type Cell, Nested } from './cells.js';
import type { Format } from './format.js';
import { flattenedRow } from './json/row.js';
import { columnNames } from './option-text.js';
import { type BrokenRow, isBroken, type ReadRow, type SourceRow } from './rows.js';

/** Which columns of a file are read, and under which names. The other options have the new names. */
export interface ColumnOptions {
  /** The columns to read. Default: all. */
  columns?: readonly string[];
  skipColumns?: readonly string[];
  /** New names by those of the file. */
  rename?: Readonly<Record<string, string>>;
  /** Whether objects become columns such as `address.city`, which the other options name; `address` means all of them. */
  flatten?: boolean;
  /** The column with the vectors of the records. Default: a list `vector` of JSON or Parquet. */
  vectorColumn?: string | undefined;
}

/** The columns of the last row: the rows of most files have the same ones. */
interface Kept {
  of: readonly string[];
  names: readonly string[];
  columns: readonly number[];
  vectorAt: number;
  /** A name of `names` that two columns have. */
  twice: string | undefined;
}

/** Applies the options that make, choose and name the columns of a file. */
export class ChosenColumns {
  readonly #option: '--columns' | '--skip-columns';
  readonly #texts: readonly string[];
  readonly #names: ReadonlySet<string>;
  readonly #renames: ReadonlyMap<string, string>;
  readonly #flatten: boolean;
  readonly #vectorColumn: string | undefined;
  /** The named columns that the file has, by the names that the options give. */
  readonly #found = new Set<string>();
  readonly #renamed = new Set<string>();
  #hasVectors = false;
  /** Whether a row had an object that became columns, or a list that became text. */
  hasNested = false;
  #kept: Kept | undefined;

  constructor({ columns, skipColumns = [], rename = {}, flatten = false, vectorColumn }: ColumnOptions = {}) {
    this.#option = columns === undefined ? '--skip-columns' : '--columns';
    this.#texts = columns ?? skipColumns;
    // A text with a comma is the name of one column if the file has such a column.
    this.#names = new Set(this.#texts.length === 0 ? [] : [...this.#texts, ...columnNames(this.#texts)]);
    this.#renames = new Map(Object.entries(rename));
    this.#flatten = flatten;
    this.#vectorColumn = vectorColumn;
  }

  /** Whether a value of the file, by its name there, is left out with all columns that it may become. */
  isSkipped(name: string): boolean {
    const given = [...this.#names, ...this.#renames.keys(), this.#vectorColumn ?? ''];
    const hasMember = this.#flatten && given.some((other) => other.startsWith(`${name}.`));
    return !hasMember && this.leavesOut(this.#nameOf(name));
  }

  /** Whether a column is left out. */
  leavesOut(name: string): boolean {
    const named = [name, ...(this.#flatten ? objectsOf(name) : [])].filter((given) => this.#names.has(given));
    for (const given of named) this.#found.add(given);
    const isNamed = named.length > 0;
    return this.#option === '--skip-columns' ? isNamed : !isNamed && name !== this.#vectorColumn;
  }

  /**
   * Checks that no other option names a column that is left out: `used` are the columns of those options.
   *
   * @throws {Error}
   */
  check(used: readonly string[]): void {
    const name = used.find((name) => this.leavesOut(name));
    if (name === undefined) return;
    throw new Error(
      this.#option === '--columns'
        ? `--columns: another option names the column "${name}", which is not among them`
        : `--skip-columns: another option names the column "${name}"`,
    );
  }

  /** The columns that no row had so far, with the options that name them. */
  get missing(): [option: string, name: string][] {
    const isFound = (name: string) => this.#found.has(name);
    const names = this.#texts.length === 0 ? [] : columnNames(this.#texts, isFound);
    const vectors = this.#vectorColumn === undefined || this.#hasVectors ? [] : [this.#vectorColumn];
    const renames = [...this.#renames.keys()];
    return [
      ...renames.flatMap((name) => (this.#renamed.has(name) ? [] : [['--rename', name] as [string, string]])),
      ...names.flatMap((name) => (isFound(name) ? [] : [[this.#option, name] as [string, string]])),
      ...vectors.map((name): [string, string] => ['--vector-column', name]),
    ];
  }

  applyTo(format: Format): Format {
    const isNone = this.#texts.length === 0 && this.#renames.size === 0 && this.#vectorColumn === undefined;
    if (isNone && !this.#flatten) return format;
    const { sample } = format;
    return {
      ...format,
      rows: () => this.#chosen(format.rows()),
      ...(sample && { sample: () => this.#chosen(sample()) }),
      get emptyLines() {
        return format.emptyLines;
      },
      header: this.#headerOf(format),
    };
  }

  /** The header, which is known once the rows are read. */
  #headerOf(format: Format): Format['header'] {
    const chosen = (names: readonly string[]) => this.#keptOf(names).names;
    return {
      get raw() {
        return format.header.raw;
      },
      get notes() {
        return format.header.notes;
      },
      get names() {
        return [...chosen(format.header.names)];
      },
    };
  }

  async *#chosen(batches: AsyncGenerator<ReadRow[]>): AsyncGenerator<ReadRow[]> {
    for await (const rows of batches) {
      yield rows.map((given) => {
        const row = this.#flatten ? flattenedRow(given) : given;
        this.hasNested ||= row !== given;
        return isBroken(row) ? this.#ofBroken(row) : this.#ofRow(row);
      });
    }
  }

  #ofBroken(row: BrokenRow): BrokenRow {
    const { names, cells } = row;
    if (names === undefined || cells === undefined) return row;
    const { columns, names: kept } = this.#keptOf(names);
    return { ...row, names: kept, cells: columns.map((at) => cells[at] ?? null) };
  }

  #ofRow(row: SourceRow): ReadRow {
    const { names, columns, vectorAt, twice } = this.#keptOf(row.names);
    const { vector, ...others } = row;
    if (twice !== undefined) {
      const { line, record, raw } = row;
      const reason = `two members are the column "${twice}": --skip-columns ${twice} leaves both out`;
      return { line, record, raw, names: row.names, cells: row.cells, reason };
    }
    const isVector = this.#vectorColumn === undefined || this.#vectorColumn === 'vector';
    if (vector !== undefined && this.#vectorColumn === 'vector') this.#hasVectors = true;
    const isKept = vector === undefined || !this.leavesOut('vector');
    if (isKept && names === row.names) return row;
    const cells = columns.map((at) => row.cells[at] ?? null);
    const kept = isKept && vector !== undefined ? { vector } : {};
    if (vectorAt < 0) return { ...others, names, cells, ...kept };
    const { line, record, raw } = row;
    const refused = (reason: string) => ({ line, record, raw, names, cells, reason });
    if (isKept && vector !== undefined && !isVector) {
      return refused('the row has a list "vector", too: --skip-columns vector leaves it out');
    }
    const cell = row.cells[vectorAt] ?? null;
    if (cell === null) return { ...others, names, cells };
    const given = vectorOf(cell);
    if (given !== undefined) return { ...others, names, cells, vector: given };
    return refused(`column "${this.#vectorColumn}": the value is no list of numbers`);
  }

  #keptOf(names: readonly string[]): Kept {
    if (this.#kept?.of === names) return this.#kept;
    const renamed = names.map((name) => this.#nameOf(name));
    const vectorAt = this.#vectorColumn === undefined ? -1 : renamed.indexOf(this.#vectorColumn);
    if (vectorAt >= 0) this.#hasVectors = true;
    const columns = [...names.keys()].filter((at) => {
      return at !== vectorAt && !this.leavesOut(renamed[at] as string);
    });
    const kept = columns.map((at) => renamed[at] as string);
    const twice = twiceIn(kept);
    if (twice !== undefined && twiceIn(names) === undefined) {
      throw new Error(`--rename: two columns have the name "${twice}" then`);
    }
    const isSame = kept.length === names.length && kept.every((name, at) => name === names[at]);
    this.#kept = { of: names, names: isSame ? names : kept, columns, vectorAt, twice };
    return this.#kept;
  }

  #nameOf(name: string): string {
    const renamed = this.#renames.get(name);
    if (renamed !== undefined) this.#renamed.add(name);
    return renamed ?? name;
  }
}

/** A name that occurs twice. */
function twiceIn(names: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return names.find((name) => seen.size === seen.add(name).size);
}

/** The objects in which a column may be a member: `a` and `a.b` of `a.b.c`. */
function objectsOf(name: string): string[] {
  return [...name.matchAll(/\./g)].map(({ index }) => name.slice(0, index));
}

/** Returns a vector as JSON, also of the text that pgvector writes; undefined for anything else. */
export function vectorOf(value: Cell): string | undefined {
  const cell = value instanceof Nested ? value.json : value;
  if (typeof cell !== 'string' || !cell.trimStart().startsWith('[')) return undefined;
  try {
    const values: unknown = JSON.parse(cell);
    const isVector = Array.isArray(values) && values.every((value) => Number.isFinite(value));
    return isVector ? JSON.stringify(values) : undefined;
  } catch {
    return undefined;
  }
}
