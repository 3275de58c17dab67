import type { Format } from './format.js';
import { columnNames } from './option-text.js';
import { isBroken, type ReadRow, type SourceRow } from './rows.js';

/** The columns that `--skip-columns` leaves out. */
export class SkippedColumns {
  readonly #texts: readonly string[];
  readonly #names: ReadonlySet<string>;
  /** The columns of the file that are left out. */
  readonly #found = new Set<string>();
  /** The columns of the last row that stay: the rows of most files have the same columns. */
  #kept: { of: readonly string[]; names: readonly string[]; columns: readonly number[] } | undefined;

  /** `texts` are the texts of the option, which {@link columnNames} reads. */
  constructor(texts: readonly string[] = []) {
    this.#texts = texts;
    // A text with a comma is the name of one column if the file has such a column.
    this.#names = new Set(texts.length === 0 ? [] : [...texts, ...columnNames(texts)]);
  }

  /** Whether a column of the file is left out. */
  skips(name: string): boolean {
    if (!this.#names.has(name)) return false;
    this.#found.add(name);
    return true;
  }

  /** The names that no column had so far. */
  get missing(): string[] {
    if (this.#texts.length === 0) return [];
    return columnNames(this.#texts, (name) => this.#found.has(name)).filter((name) => !this.#found.has(name));
  }

  applyTo(format: Format): Format {
    if (this.#names.size === 0) return format;
    const { sample } = format;
    const skips = (name: string) => this.skips(name);
    return {
      ...format,
      rows: () => this.#without(format.rows()),
      ...(sample && { sample: () => this.#without(sample()) }),
      get emptyLines() {
        return format.emptyLines;
      },
      get header() {
        const { header } = format;
        return { ...header, names: header.names.filter((name) => !skips(name)) };
      },
    };
  }

  async *#without(batches: AsyncGenerator<ReadRow[]>): AsyncGenerator<ReadRow[]> {
    for await (const rows of batches) yield rows.map((row) => (isBroken(row) ? row : this.#shortened(row)));
  }

  #shortened(row: SourceRow): SourceRow {
    if (this.#kept?.of !== row.names) {
      const columns = [...row.names.keys()].filter((at) => !this.skips(row.names[at] as string));
      this.#kept = { of: row.names, names: columns.map((at) => row.names[at] as string), columns };
    }
    const { names, columns } = this.#kept;
    const { vector, ...others } = row;
    const isKept = vector === undefined || !this.skips('vector');
    if (isKept && names.length === row.names.length) return row;
    const cells = columns.map((at) => row.cells[at] ?? null);
    return { ...others, names, cells, ...(isKept && { vector }) };
  }
}
