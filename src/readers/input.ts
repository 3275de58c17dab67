import { didYouMean } from '../schema/suggest.js';
import { ChosenColumns, type ColumnOptions } from './chosen-columns.js';
import type { ColumnType } from './column-types.js';
import type { Format, FormatOptions } from './format.js';
import {
  type IdentityColumns,
  IdentityValues,
  identityColumns,
  identityText,
  idText,
  isIdentityOnly,
} from './identity/column.js';
import { Identities } from './identity/identities.js';
import { type InferredIdentity, inferredIdentity } from './identity/other-kind.js';
import { Inspection } from './inspection.js';
import { LiveTypes, RecordMaker, type RecordPlan } from './record-maker.js';
import { BadRow, isBroken, type OnBadRow, type Row, type SourceRow } from './rows.js';
import type { Source } from './source.js';
import type { ValueFormat } from './value-text.js';

export interface InputOptions extends FormatOptions, ColumnOptions {
  types?: Record<string, ColumnType>;
}

/** Where the rows come from. */
export type InputSource = Pick<Source, 'file' | 'checkUnchanged'>;

/**
 * The two parts of a file. The service assigns ids above all existing ids. The records with an id are sent first, so
 * that no other record gets the same id.
 */
const RECORD_PARTS = ['with-id', 'without-id'] as const;
type RecordPart = (typeof RECORD_PARTS)[number];

/** The records of a file or a pipe. */
export class Input {
  readonly #source: InputSource;
  readonly #options: InputOptions;
  readonly #identities = new Identities();
  readonly format: Format;
  readonly #chosen: ChosenColumns;
  /** What all rows have in common; undefined for JSON from a pipe, which is sent while it arrives. */
  readonly inspection: Inspection | undefined;
  /** Undefined until the first record of JSON from a pipe. */
  identity: IdentityColumns | undefined;
  /** Columns that options name and that no record of JSON from a pipe has had so far, with the names of the options. */
  readonly #unseen = new Map<string, string>();
  readonly #valuesOfPipe = new IdentityValues();
  /** The types of JSON from a pipe. */
  #live: LiveTypes | undefined;

  /** `inspection` is that of all rows, or of the beginning of a pipe. */
  constructor(
    source: InputSource,
    options: InputOptions,
    format: Format,
    inspection: Inspection | undefined,
    chosen = new ChosenColumns(),
  ) {
    this.#source = source;
    this.#options = options;
    this.format = format;
    this.#chosen = chosen;
    this.inspection = inspection;
    if (inspection !== undefined) {
      this.identity = this.#identityOf(inspection);
    }
  }

  /** The path of the file; undefined for a pipe. */
  get file(): string | undefined {
    return this.#source.file;
  }

  /**
   * Checks the columns that an option names. For JSON from a pipe, {@link unseenColumns} tells at the end.
   *
   * @throws {Error} when no row has one of them.
   */
  checkColumns(option: string, names: readonly string[]): void {
    const { inspection } = this;
    if (inspection === undefined) {
      for (const name of names) this.#unseen.set(name, option);
      return;
    }
    for (const name of names) {
      if (inspection.has(name)) continue;
      throw new Error(`${option}: there is no column "${name}"${didYouMean(name, inspection.names)}`);
    }
  }

  /**
   * Checks that the file has the columns that are chosen, left out and renamed, and that no other option names one that is
   * left out: `used` are the columns of those options.
   */
  checkChosen(used: readonly string[]): void {
    this.#chosen.check(used);
    if (this.inspection === undefined) return;
    const [missing] = this.#chosen.missing;
    if (missing === undefined) return;
    const [option, name] = missing;
    throw new Error(`${option}: there is no column "${name}"${didYouMean(name, this.inspection.names)}`);
  }

  /** Returns what is wrong with the options once all records are read: columns that no record has. */
  unseenColumns(): string[] {
    const unseen = [...this.#unseen].map(([name, option]): [string, string] => [option, name]);
    return [...unseen, ...this.#chosen.missing].map(
      ([option, name]) => `${option}: no record has a column "${name}"`,
    );
  }

  /** Returns the type of a column; undefined when each value has its own. */
  typeOf(name: string): ColumnType | undefined {
    return this.#options.types?.[name] ?? this.inspection?.typeOf(name);
  }

  /** The formats that a column of CSV has, the first of which is kept; empty for text. Undefined is that of JavaScript. */
  formatsOf(name: string): readonly ValueFormat[] {
    const { identity, inspection } = this;
    const isIdentity = identity !== undefined && isIdentityOnly(name, identity);
    return isIdentity || this.typeOf(name) === 'text' ? [] : (inspection?.formatsOf(name) ?? []);
  }

  hasDeclaredType(name: string): boolean {
    return this.#options.types?.[name] !== undefined;
  }

  /** The number of records; undefined while it is not known. */
  get total(): number | undefined {
    return this.format.isRepeatable ? this.inspection?.rows : undefined;
  }

  /** Yields the records in the order in which they are sent. `onlyChecks` says that most of them are not sent. */
  async *records(onBad: OnBadRow, { onlyChecks = false } = {}): AsyncGenerator<Row[]> {
    const maker =
      this.inspection && new RecordMaker(this.#plan(this.inspection, onlyChecks), this.#identities);
    if (maker === undefined || !this.format.isRepeatable) {
      yield* this.#recordsOfPipe(maker, onBad);
      return;
    }
    const [first] = this.#parts();
    for (const part of this.#parts()) {
      yield* this.#part(part, maker, part === first ? onBad : () => undefined, onBad);
    }
    await this.#source.checkUnchanged();
  }

  /**
   * Yields the records without an id again when the file also has rows with an id. Not for a pipe. Bad rows are not
   * reported a second time.
   */
  async *withoutId(): AsyncGenerator<Row[]> {
    if (this.inspection === undefined || !this.format.isRepeatable || this.#parts().length < 2) return;
    const maker = new RecordMaker(this.#plan(this.inspection), new Identities());
    const ignore = () => undefined;
    yield* this.#part('without-id', maker, ignore, ignore);
    await this.#source.checkUnchanged();
  }

  hasRowWithId(id: number): boolean {
    return this.#identities.lineOfId(id) !== 0;
  }

  /** Yields the first row of each of these ids as it is in the file. */
  async *rowsWithIds(ids: ReadonlySet<number>): AsyncGenerator<{ id: number; row: SourceRow }> {
    const missing = new Set(ids);
    for await (const rows of this.format.rows()) {
      for (const row of rows) {
        if (isBroken(row) || this.identity === undefined) continue;
        const id = Number(idText(row, this.identity, this.#isNamed));
        if (missing.delete(id)) yield { id, row };
      }
    }
  }

  /** The identity column, if its values alone decide of which kind they are. For a pipe: the values so far. */
  inferredIdentity(): InferredIdentity | undefined {
    if (this.identity === undefined) return undefined;
    const values = this.format.isRepeatable ? this.inspection?.identity : this.#valuesOfPipe;
    return values && inferredIdentity(this.identity, values, this.#options.types);
  }

  /** The types of the columns that this file decided, so that no option declares them. */
  decidedTypes(): [name: string, type: ColumnType][] {
    const { inspection, identity } = this;
    const names = inspection?.names ?? [...(this.#live?.texts ?? []), ...keyColumnOf(identity)];
    return [...new Set(names)].flatMap((name) => {
      const isKey = name === identity?.column && identity.kind === 'key';
      const isIdentity = identity !== undefined && isIdentityOnly(name, identity);
      // A column that is declared as text has keys, even if all its values are integers.
      const type = isKey || inspection === undefined ? 'text' : this.typeOf(name);
      if (type === undefined || isIdentity || this.#options.types?.[name] !== undefined) return [];
      return [[name, type]];
    });
  }

  #identityOf(inspection: Inspection): IdentityColumns {
    const { idColumn, types } = this.#options;
    const kind = inspection.identity.kind(types?.[idColumn ?? 'id']);
    return identityColumns(idColumn, inspection, kind, inspection.keys(this.file === undefined));
  }

  #plan(inspection: Inspection, onlyChecks = false): RecordPlan {
    const identity = this.identity ?? this.#identityOf(inspection);
    const types = new Map(inspection.names.map((name) => [name, this.typeOf(name)]));
    return {
      identity,
      named: this.#isNamed,
      hasRecords: inspection.records > 0,
      nulls: this.format.nulls,
      onlyChecks,
      typeOf: (name) => types.get(name),
    };
  }

  #parts(): readonly RecordPart[] {
    const { inspection, identity } = this;
    if (inspection === undefined) return RECORD_PARTS;
    const withId = inspection.memberIds + (identity?.kind === 'id' ? inspection.identity.values : 0);
    if (withId === 0) return ['without-id'];
    return withId >= inspection.rows ? ['with-id'] : RECORD_PARTS;
  }

  async *#part(
    part: RecordPart,
    maker: RecordMaker,
    onBroken: OnBadRow,
    onBad: OnBadRow,
  ): AsyncGenerator<Row[]> {
    const isOnly = this.#parts().length === 1;
    for await (const batch of this.format.rows()) {
      const rows: Row[] = [];
      for (const row of batch) {
        if (isBroken(row)) onBroken(row, row.reason);
        else if (isOnly || maker.hasId(row) === (part === 'with-id')) this.#add(rows, maker, row, onBad);
      }
      if (rows.length > 0) yield rows;
    }
  }

  /** Rows of a pipe are sent in their order: either all have an id, or none. */
  async *#recordsOfPipe(maker: RecordMaker | undefined, onBad: OnBadRow): AsyncGenerator<Row[]> {
    let first: RecordPart | undefined;
    for await (const batch of this.format.rows()) {
      const rows: Row[] = [];
      for (const row of batch) {
        if (isBroken(row)) {
          onBad(row, row.reason);
          continue;
        }
        maker ??= this.#liveMaker(row);
        this.#see(row);
        const part = maker.hasId(row) ? 'with-id' : 'without-id';
        first ??= part;
        if (part === first) this.#add(rows, maker, row, onBad);
        else onBad(row, mixedIds(first));
      }
      if (rows.length > 0) yield rows;
    }
  }

  get #isNamed(): boolean {
    return this.#options.idColumn !== undefined;
  }

  #add(rows: Row[], maker: RecordMaker, row: SourceRow, onBad: OnBadRow): void {
    try {
      rows.push(maker.make(row));
    } catch (error) {
      if (!(error instanceof BadRow)) throw error;
      onBad(row, error.message);
    }
  }

  #see(row: SourceRow): void {
    const { identity } = this;
    if (this.#unseen.size > 0) for (const name of row.names) this.#unseen.delete(name);
    this.#valuesOfPipe.observe(identityText(row, identity?.column, this.#isNamed));
  }

  /** Decides the identity from the first record of a pipe. */
  #liveMaker(row: SourceRow): RecordMaker {
    const { types, idColumn } = this.#options;
    const first = new Inspection(this.format, idColumn);
    first.observe(row);
    if (idColumn !== undefined && !first.has(idColumn)) {
      const hint = didYouMean(idColumn, first.names);
      throw new Error(`--id-column: the first record of the pipe has no column "${idColumn}"${hint}`);
    }
    this.identity = this.#identityOf(first);
    const live = new LiveTypes();
    this.#live = live;
    return new RecordMaker(
      {
        identity: this.identity,
        named: this.#isNamed,
        hasRecords: first.records > 0,
        nulls: this.format.nulls,
        typeOf: (name, cell) => types?.[name] ?? live.typeOf(name, cell),
      },
      this.#identities,
    );
  }
}

/** Returns the name of the column with the keys, if there is one. */
function keyColumnOf(identity: IdentityColumns | undefined): string[] {
  return identity?.kind === 'key' && identity.column !== undefined ? [identity.column] : [];
}

/** Explains why a pipe may not mix records with an id and records without one. */
function mixedIds(first: RecordPart): string {
  const [rule, here] = first === 'with-id' ? ['an id', 'has none'] : ['no id', 'has one'];
  return (
    `the first record has ${rule} and this one ${here}: one could overwrite the other. ` +
    'A file may mix them, a pipe may not'
  );
}
