import type { Cell } from './cells.js';
import { type ColumnType, FieldTypes, type TypeHint, ValueTypes } from './column-types.js';
import type { Format } from './format.js';
import {
  columnText,
  type IdentityColumns,
  IdentityValues,
  identityText,
  KeyValues,
  UuidValues,
} from './identity/column.js';
import { type BrokenRow, isBroken, type ReadRow, type SourceRow } from './rows.js';
import type { ValueFormat } from './value-text.js';

export const IDENTITY_MEMBERS: readonly string[] = ['id', 'uuid', 'key'];

/** Whether the values of a format have types, and its texts that stand for no value. */
type TypedFormat = Pick<Format, 'typed' | 'nulls'>;

/** What is found in all rows of a file, or in the first rows of a pipe. */
export class Inspection {
  readonly #format: TypedFormat;
  readonly #columns = new Map<string, FieldTypes | ValueTypes>();
  readonly #idColumn: string | undefined;
  /** The values of `--id-column`, otherwise of `id`. */
  readonly identity = new IdentityValues();
  readonly #keys = new KeyValues();
  readonly #uuids = new UuidValues();
  rows = 0;
  /** Rows that are records with `data`. */
  records = 0;
  /** Rows that have an `id` beside `data`. */
  memberIds = 0;
  /** The members beside `data` that identify records. */
  readonly identityMembers = new Set<string>();
  vectors = 0;

  constructor(format: TypedFormat, idColumn: string | undefined) {
    this.#format = format;
    this.#idColumn = idColumn;
  }

  /** The names of all columns, in the order of their first rows. */
  get names(): readonly string[] {
    return [...this.#columns.keys()];
  }

  has(name: string): boolean {
    return this.#columns.has(name);
  }

  typeOf(name: string): ColumnType | undefined {
    return this.#columns.get(name)?.type;
  }

  /** The formats in which all values of a column of CSV are written. */
  formatsOf(name: string): readonly ValueFormat[] {
    const types = this.#columns.get(name);
    return types instanceof FieldTypes ? types.formats : [];
  }

  /** The columns that are text only because of the form of their values. */
  get hints(): TypeHint[] {
    return [...this.#columns].flatMap(([name, types]) => {
      const hint = types instanceof FieldTypes ? types.hint : undefined;
      return hint === undefined ? [] : [{ name, ...hint }];
    });
  }

  /** Whether a column `uuid` may give the UUIDs of the records. */
  get hasUuids(): boolean {
    return this.has('uuid') && !this.#uuids.isData;
  }

  /** What a column `key` is. `isSample` says that more rows follow. */
  keys(isSample: boolean): IdentityColumns['keys'] {
    return this.#keys.kind(this.names, isSample);
  }

  observe(row: SourceRow): void {
    this.rows += 1;
    if (row.members !== undefined) this.records += 1;
    this.#observeCells(row);
    const member = row.members?.get('id');
    if (member !== undefined && member !== 'null') this.memberIds += 1;
    for (const [name, json] of row.members ?? []) {
      if (IDENTITY_MEMBERS.includes(name) && json !== 'null') this.identityMembers.add(name);
    }
    if (row.vector !== undefined || row.members?.has('vector')) this.vectors += 1;
    const isNamed = this.#idColumn !== undefined;
    this.identity.observe(identityText(row, this.#idColumn ?? 'id', isNamed));
    if (row.members === undefined || isNamed) {
      this.#keys.observe(row);
      this.#uuids.observe(columnText(row, 'uuid'));
    }
  }

  /** Lets a broken row decide types, too: once it is corrected, its values are as those of the other rows. */
  observeBroken({ names, cells, line }: BrokenRow): void {
    if (names !== undefined && cells !== undefined) this.#observeCells({ names, cells, line });
  }

  #observeCells({ names, cells, line }: Pick<SourceRow, 'names' | 'cells' | 'line'>): void {
    for (const [at, name] of names.entries()) this.#observeCell(name, cells[at] ?? null, line);
  }

  /** Adds columns that no row may have, such as those of a CSV file with only a header. */
  addColumns(names: readonly string[]): void {
    for (const name of names) this.#observeCell(name, null, 0);
  }

  #observeCell(name: string, cell: Cell, line: number): void {
    let types = this.#columns.get(name);
    if (types === undefined) {
      types = this.#format.typed ? new ValueTypes() : new FieldTypes(this.#format.nulls);
      this.#columns.set(name, types);
    }
    types.observe(cell, line);
  }
}

/** Reads rows to their end. Rows that are broken are reported when the records are read. */
export async function inspect(
  format: Format,
  rows: AsyncIterable<readonly ReadRow[]>,
  idColumn: string | undefined,
  onProgress: (rows: number) => void,
): Promise<Inspection> {
  const inspection = new Inspection(format, idColumn);
  for await (const batch of rows) {
    for (const row of batch) {
      if (isBroken(row)) inspection.observeBroken(row);
      else inspection.observe(row);
    }
    onProgress(inspection.rows);
  }
  inspection.addColumns(format.header.names);
  return inspection;
}
