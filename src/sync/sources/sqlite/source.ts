import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { CosiftError } from '../../../errors.js';
import { type Cell, Nested, textOf } from '../../../readers/cells.js';
import { cellOf } from '../../../readers/json/object.js';
import type { Bookmark, Round, SourceBatch, SourceRow, SourceShape, SyncSource } from '../../source.js';
import { checkWhere, type TableDefinition, wantedColumns } from '../definition.js';
import { BadValue, batchesOf, convertedCell, dataOf } from '../row-values.js';
import { SqliteProcess } from './sqlite-process.js';

/** A table, a view or a query of a SQLite file. Every round has all rows; there is none while nothing was committed. */
export class SqliteSource implements SyncSource {
  readonly #path: string;
  readonly #definition: TableDefinition;
  #reader: { process: SqliteProcess; file: string; name: string } | undefined;

  constructor(file: string, definition: TableDefinition) {
    this.#path = path.resolve(file);
    this.#definition = definition;
  }

  async shape(signal: AbortSignal): Promise<SourceShape> {
    await this.#open(false);
    const { columns, key } = await this.#relation(signal);
    const types = columns.map(({ name, type }) => ({ name, type }));
    return { identity: this.#path, columns: types, key, notices: [] };
  }

  async round(before: Bookmark | null, whole: boolean, signal: AbortSignal): Promise<Round | null> {
    const readAt = new Date();
    const reader = await this.#open(whole);
    const versions = await this.#all('SELECT * FROM pragma_data_version, pragma_schema_version', signal);
    const version = [reader.name, reader.file, ...versions.flat().map((cell) => textOf(cell))].join(' ');
    if (!whole && before?.version === version) return null;
    await this.#all('BEGIN', signal);
    const close = async () => {
      // Otherwise the process is replaced.
      if (reader.process.isUsable) await this.#all('ROLLBACK', signal).catch(() => undefined);
    };
    try {
      const relation = await this.#relation(signal);
      const [[total] = []] = await this.#all(`SELECT count(*) FROM ${relation.from}`, signal);
      return {
        kind: 'complete',
        readAt,
        total: Number(total),
        batches: this.#batches(reader.process, relation, signal),
        bookmark: () => ({ version }),
        close,
      };
    } catch (error) {
      await close();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#reader?.process.close();
    this.#reader = undefined;
  }

  /**
   * The process that reads the file. Another file in its place, also one that was written over it, gets another process, because
   * SQLite keeps pages in memory as long as the number of commits in the file is the same. `isNew` asks for one in any case.
   */
  async #open(isNew: boolean) {
    const found = await stat(this.#path, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
      const isMissing = error.code === 'ENOENT';
      throw new CosiftError('source_failed', isMissing ? `there is no file ${this.#path}` : error.message);
    });
    const { dev, ino, size, mtimeNs, ctimeNs } = found;
    const file = [dev, ino, size, mtimeNs, ctimeNs].join('/');
    if (isNew || this.#reader === undefined || this.#reader.file !== file || !this.#reader.process.isUsable) {
      await this.close();
      this.#reader = { process: new SqliteProcess(this.#path), file, name: randomUUID() };
    }
    return this.#reader;
  }

  async #all(statement: string, signal: AbortSignal): Promise<Cell[][]> {
    const rows: Cell[][] = [];
    for await (const batch of (this.#reader as { process: SqliteProcess }).process.rows(statement, signal))
      rows.push(...batch);
    return rows;
  }

  async #relation(signal: AbortSignal): Promise<Relation> {
    const { table, query, columns, key, where, types = {} } = this.#definition;
    const given = table === undefined ? undefined : await this.#columnsOf(table, signal);
    const source = table === undefined ? `(${query as string}\n)` : quoted(table);
    const wanted = wantedColumns(
      this.#definition,
      given?.map(({ name }) => name),
      table ?? 'the query',
    );
    const primary = (given ?? []).filter(({ part }) => part > 0).sort((a, b) => a.part - b.part);
    const names = key ?? primary.map(({ name }) => name);
    if (names.length === 0) {
      throw new CosiftError(
        'source_failed',
        `${table ?? 'the query'} has no primary key: name the columns that identify a row by \`key\``,
      );
    }
    await checkWhere(this.#definition, (expression) =>
      this.#all(`SELECT ${expression} FROM ${source} AS source LIMIT 0`, signal),
    );
    const from = `${source} AS source${where === undefined ? '' : ` WHERE (${where}\n)`}`;
    // A query whose columns are not known is asked for them.
    if (given === undefined)
      await this.#all(`SELECT ${[...wanted, ...names].map(column).join(', ')} FROM ${from} LIMIT 0`, signal);
    return {
      from,
      key: names,
      isUnique: key === undefined,
      columns: columns.map((name) => {
        const type = given?.find((other) => other.name === name)?.type ?? '';
        if (/BLOB/i.test(type) && !Object.hasOwn(types, name)) {
          throw new CosiftError(
            'source_failed',
            `column "${name}" has the type ${type}, which records do not have: leave it out`,
          );
        }
        return { name, type };
      }),
    };
  }

  async #columnsOf(
    table: string,
    signal: AbortSignal,
  ): Promise<{ name: string; type: string; part: number }[]> {
    const rows = await this.#all(
      `SELECT name, type, pk FROM pragma_table_xinfo(${literal(table)}) WHERE hidden <> 1`,
      signal,
    );
    if (rows.length === 0) throw new CosiftError('source_failed', `${this.#path} has no table ${table}`);
    return rows.map(([name, type, part]) => ({
      name: textOf(name as Cell),
      type: textOf(type as Cell),
      part: Number(part),
    }));
  }

  #batches(process: SqliteProcess, relation: Relation, signal: AbortSignal): AsyncGenerator<SourceBatch> {
    const { times } = this.#definition;
    const time = (name: string | undefined) => (name === undefined ? 'NULL' : column(name));
    const names = [...relation.key, ...relation.columns.map(({ name }) => name)].map(column);
    const list = [...names, time(times?.created), time(times?.changed)].join(', ');
    // Two rows with one key are neighbours in this order, also where their values compare as equal.
    const order = relation.isUnique
      ? ''
      : ` ORDER BY ${relation.key.map((name) => `CAST(${column(name)} AS TEXT) COLLATE BINARY`).join(', ')}`;
    const found = process.rows(`SELECT ${list} FROM ${relation.from}${order}`, signal);
    const partsOf = (cells: readonly Cell[]) => cells.slice(0, relation.key.length);
    const textsOf = (cells: readonly Cell[]) =>
      partsOf(cells).map((part) =>
        part === null ? null : part instanceof Nested ? whatIs(part) : textOf(part),
      );
    let last: string | undefined;
    return batchesOf(found, textsOf, (cells, key) => {
      const parts = partsOf(cells);
      for (const [at, part] of parts.entries()) checkKeyPart(relation.key[at] as string, part);
      if (key === last)
        throw new CosiftError('source_failed', `\`key\` does not identify the rows: two have ${key}`);
      last = key;
      return this.#row(key, cells.slice(parts.length), relation);
    });
  }

  #row(key: string, cells: readonly Cell[], { columns }: Relation): SourceRow {
    const { times, types = {} } = this.#definition;
    const values = columns.map(({ name, type }, at) => {
      const cell = cells[at] ?? null;
      if (cell instanceof Nested) throw new BadValue(`column "${name}" has ${whatIs(cell)}`);
      const given = Object.hasOwn(types, name) ? types[name] : undefined;
      return given === undefined ? valueOfType(name, cell, type) : convertedCell(name, cell, given);
    });
    const [created, changed] = cells.slice(columns.length);
    return {
      key,
      data: dataOf(columns, values),
      created: instantOf(times?.created ?? '', created ?? null),
      changed: instantOf(times?.changed ?? '', changed ?? null),
    };
  }
}

interface Relation {
  /** What stands after FROM. */
  from: string;
  key: readonly string[];
  /** Whether SQLite ensures that the key is unique. */
  isUnique: boolean;
  columns: readonly { name: string; type: string }[];
}

function checkKeyPart(name: string, part: Cell): void {
  if (part === null) throw new BadValue(`column "${name}" of the key is NULL`);
  if (part instanceof Nested) throw new BadValue(`column "${name}" of the key has ${whatIs(part)}`);
}

/** What a value is that JSON does not have. */
function whatIs({ json }: Nested): string {
  return (JSON.parse(json) as { value: string }).value;
}

/** The value of a column with a declared type. SQLite stores booleans as numbers and JSON as text. */
function valueOfType(name: string, cell: Cell, type: string): Cell {
  if (/^BOOL/i.test(type) && (cell === 0 || cell === 1)) return cell === 1;
  if (!/^JSON/i.test(type) || typeof cell !== 'string') return cell;
  try {
    return cellOf(cell.trim());
  } catch (error) {
    throw new BadValue(`column "${name}": ${(error as Error).message}`);
  }
}

const TIME = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d)(:\d\d(?:\.\d+)?)?(Z|[-+]\d\d:\d\d)?)?$/;

/** The instant of a text in ISO 8601 or as SQLite writes it. Without a zone it is in UTC, as the times of SQLite are. */
function instantOf(name: string, cell: Cell): string | undefined {
  if (cell === null) return undefined;
  const [, date, time, seconds = ':00', zone = 'Z'] = TIME.exec(textOf(cell)) ?? [];
  if (date === undefined) throw new BadValue(`column "${name}": ${textOf(cell)} is no time in ISO 8601`);
  return time === undefined ? `${date}T00:00:00Z` : `${date}T${time}${seconds}${zone}`;
}

/** A column of the source. With the name of the source, because SQLite takes an unknown name alone for a text. */
function column(name: string): string {
  return `source.${quoted(name)}`;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
