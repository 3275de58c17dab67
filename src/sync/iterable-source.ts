import { checkedRequest } from '../api/checked-copy.js';
import { checkIterable } from '../api/upsert-in-batches.js';
import { CosiftError } from '../errors.js';
import { notOfType } from '../schema/details.js';
import type { Data } from '../schema/public-types.js';
import {
  keyOf,
  type RefusedRow,
  type Round,
  type SourceBatch,
  type SourceRow,
  type SourceShape,
  type SyncSource,
} from './source.js';
import { BadValue } from './sources/row-values.js';

const BATCH_ROWS = 1_000;

type Row = Readonly<Record<string, unknown>>;

export interface RowsOptions {
  /** Returns all rows. It is called for each pass. */
  rows: () => Iterable<object> | AsyncIterable<object>;
  /** The columns whose values identify a row. */
  key: readonly string[];
  /** The columns that records have. Default: all. */
  columns: readonly string[] | undefined;
  /** The columns with the times at which a row was created and last changed. */
  times: { readonly created?: string | undefined; readonly changed?: string | undefined };
}

/** Rows of any origin. Each round is complete. */
export class IterableSource implements SyncSource {
  readonly #options: RowsOptions;

  constructor(options: RowsOptions) {
    this.#options = options;
  }

  async shape(): Promise<SourceShape> {
    const { key, columns = [], times } = this.#options;
    const named = columns.map((name) => ({ name, type: '' }));
    return { identity: JSON.stringify(times), columns: named, key, notices: [] };
  }

  async round(): Promise<Round> {
    const readAt = new Date();
    const rows = this.#options.rows();
    checkIterable(rows);
    return {
      kind: 'complete',
      readAt,
      batches: this.#batches(rows),
      bookmark: () => null,
      close: async () => undefined,
    };
  }

  async close(): Promise<void> {}

  async *#batches(rows: Iterable<object> | AsyncIterable<object>): AsyncGenerator<SourceBatch> {
    const { columns = [], key, times } = this.#options;
    const unseen = new Set(
      [...columns, ...key, ...Object.values(times)].filter((name) => name !== undefined),
    );
    const keys = new Set<string>();
    let number = 0;
    let batch = { rows: [] as SourceRow[], refused: [] as RefusedRow[] };
    for await (const row of rows) {
      number += 1;
      const found = this.#read(row, number, unseen);
      if ('reason' in found) batch.refused.push(found);
      else if (keys.has(found.key))
        batch.refused.push({ key: found.key, reason: 'an earlier row has this key' });
      else {
        keys.add(found.key);
        batch.rows.push(found);
      }
      if (batch.rows.length + batch.refused.length < BATCH_ROWS) continue;
      yield batch;
      batch = { rows: [], refused: [] };
    }
    yield batch;
    if (number === 0 || unseen.size === 0) return;
    const names = Array.from(unseen, (name) => JSON.stringify(name)).join(', ');
    throw new CosiftError(
      'source_failed',
      `no row has the column ${names}: check \`key\`, \`columns\` and \`times\``,
    );
  }

  /** Removes the columns that the row has from `unseen`. */
  #read(row: unknown, number: number, unseen: Set<string>): SourceRow | RefusedRow {
    let key = `row ${number}`;
    try {
      if (!isRow(row)) throw new BadValue(notOfType(row, 'object'));
      for (const name of unseen) if (row[name] !== undefined) unseen.delete(name);
      key = keyOf(this.#options.key.map((name) => keyPart(row, name)));
      if (key === '') throw new BadValue('the key is empty');
      const { created, changed } = this.#options.times;
      return { key, data: this.#data(row), created: timeOf(row, created), changed: timeOf(row, changed) };
    } catch (error) {
      if (error instanceof BadValue) return { key, reason: error.message };
      if (error instanceof CosiftError) return { key, reason: error.detail };
      throw error;
    }
  }

  /** @throws {CosiftError} for a value that JSON cannot represent. */
  #data(row: Row): Data {
    const names = this.#options.columns ?? Object.keys(row);
    const data = Object.fromEntries(names.map((name) => [name, row[name]]));
    return checkedRequest(data, 'the row').request as Data;
  }
}

/** Callers without TypeScript may pass anything. */
function isRow(row: unknown): row is Row {
  return typeof row === 'object' && row !== null && !Array.isArray(row);
}

function keyPart(row: Row, name: string): string {
  const value = row[name];
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint' || Number.isFinite(value)) return String(value);
  const what = value === undefined ? 'is missing' : `is ${value === null ? 'null' : typeof value}`;
  throw new BadValue(`the key column ${JSON.stringify(name)} ${what}; it must be a text or a number`);
}

function timeOf(row: Row, name: string | undefined): string | undefined {
  const value = name === undefined ? undefined : row[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  throw new BadValue(`the column ${JSON.stringify(name)} has no time`);
}
