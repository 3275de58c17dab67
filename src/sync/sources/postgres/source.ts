import { createHash } from 'node:crypto';
import { CosiftError } from '../../../errors.js';
import type { Bookmark, Round, SourceBatch, SourceRow, SourceShape, SyncSource } from '../../source.js';
import type { TableDefinition } from '../definition.js';
import { BadValue, batchesOf, dataOf } from '../row-values.js';
import { instantOfTime } from './column-readers.js';
import { type Snapshot, SourceConnection, type TextRow } from './connection.js';
import { lockableName, type Relation, readRelation } from './relation.js';
import { CHUNK, Statements } from './statements.js';

/** Changed rows that are read in one transaction. More of them are read in short ones before. */
const MAX_FINAL_ROWS = 2_000;
/** Passes over the changed rows before the last one: under a long transaction, the same rows stay changed. */
const MAX_PASSES = 3;
/** A transaction that is this far behind may soon be in the future: the numbers of PostgreSQL have 32 bits. */
const MAX_BEHIND = 1_500_000_000n;

/** Where a table is read next. */
type TableBookmark = {
  definition: string;
  identity: string;
  layout: string;
  /** Missing in the bookmark of another kind of source. */
  kinds?: Record<string, string>;
  /** The oldest transaction that was open: no row that was read is of it or of a later one. Polls only. */
  horizon?: string;
  /** The snapshot as PostgreSQL writes it. Polls only. */
  snapshot?: string;
  /** Scans only. */
  digest?: string;
};

/** A table, a view or a query of PostgreSQL. It is only read, with the right SELECT. */
export class PostgresSource implements SyncSource {
  readonly #connection: SourceConnection;
  readonly #definition: TableDefinition;

  constructor(url: string, definition: TableDefinition) {
    this.#connection = new SourceConnection(url);
    this.#definition = definition;
  }

  async shape(signal: AbortSignal): Promise<SourceShape> {
    const { snapshot, relation } = await this.#open(signal);
    await snapshot.end();
    const { identity, types, key, notices } = relation;
    return { identity, columns: types, key: key.map(({ name }) => name), notices };
  }

  async round(before: Bookmark | null, whole: boolean, signal: AbortSignal): Promise<Round | null> {
    const readAt = new Date();
    const { snapshot, relation } = await this.#open(signal);
    try {
      const statements = new Statements(relation, this.#definition);
      const known = this.#comparable(before as TableBookmark | null, relation);
      const parts = { relation, statements, readAt, signal, snapshot };
      return relation.method === 'poll'
        ? await this.#poll(parts, whole ? undefined : known)
        : await this.#scan(parts, whole ? undefined : known);
    } catch (error) {
      await snapshot.end();
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /** Reads what the source is, in a snapshot that stays open. */
  async #open(signal: AbortSignal): Promise<{ snapshot: Snapshot; relation: Relation }> {
    const rls = this.#definition.rls ?? false;
    const first = await this.#connection.snapshot({ signal, rls });
    let locked: string | undefined;
    try {
      locked = await lockableName(first, this.#definition);
    } finally {
      await first.end();
    }
    const snapshot = await this.#connection.snapshot({ signal, rls, locked });
    try {
      return { snapshot, relation: await readRelation(snapshot, this.#definition) };
    } catch (error) {
      await snapshot.end();
      throw error;
    }
  }

  /**
   * Returns the bookmark if the rows that it stands for are those of the same table.
   *
   * @throws {CosiftError} `source_failed` if a column has become one of another kind, so that records would have values of two kinds.
   */
  #comparable(before: TableBookmark | null, relation: Relation): TableBookmark | undefined {
    if (before === null) return undefined;
    for (const { name, kind } of relation.columns) {
      const earlier = before.kinds?.[name];
      const isGiven = Object.hasOwn(this.#definition.types ?? {}, name);
      if (earlier === undefined || earlier === kind || isGiven) continue;
      throw new CosiftError(
        'source_failed',
        `column "${name}" was ${earlier} and is ${kind} now: say what records have by its type in \`types\``,
      );
    }
    const now = this.#bookmarkOf(relation);
    const isSame = (['definition', 'identity', 'layout'] as const).every(
      (name) => before[name] === now[name],
    );
    return isSame ? before : undefined;
  }

  #bookmarkOf({ identity, layout, columns }: Relation): TableBookmark {
    const definition = createHash('sha256').update(JSON.stringify(this.#definition)).digest('base64url');
    return {
      definition,
      identity,
      layout,
      kinds: Object.fromEntries(columns.map(({ name, kind }) => [name, kind])),
    };
  }

  /** All rows of one snapshot; null if they are those of the bookmark. */
  async #scan({ relation, statements, readAt, snapshot }: Parts, known: TableBookmark | undefined) {
    const [[digest] = []] = await snapshot.rows(statements.digest());
    if (known !== undefined && known.digest === digest) {
      await snapshot.end();
      return null;
    }
    const batches = unique(cursor(snapshot, statements.ordered()), relation.key.length);
    return {
      kind: 'complete' as const,
      readAt,
      total: Number(digest?.split(' ')[0]),
      batches: this.#batches(batches, relation),
      bookmark: () => ({ ...this.#bookmarkOf(relation), digest }),
      close: () => snapshot.end(),
    };
  }

  /** The rows that changed since the bookmark, or all rows without one; null if nothing has changed. */
  async #poll(parts: Parts, before: TableBookmark | undefined): Promise<Round | null> {
    const { relation, statements, readAt, snapshot } = parts;
    const moment = await momentOf(snapshot);
    if (before?.snapshot === moment.text) {
      await snapshot.end();
      return null;
    }
    const since = before !== undefined && isAfter(moment, before) ? before.horizon : undefined;
    const final = new FinalSnapshot(snapshot, moment);
    const total = await countOf(snapshot, statements);
    return {
      kind: 'keys',
      readAt,
      ...(since === undefined && { total }),
      batches: this.#batches(this.#changes(parts, final, since, total), relation),
      keys: final.keys(statements),
      count: () => final.count,
      bookmark: () => ({
        ...this.#bookmarkOf(relation),
        horizon: String(final.moment.horizon),
        snapshot: final.moment.text,
      }),
      close: () => final.snapshot.end(),
    };
  }

  /**
   * Yields the rows that transactions from `since` on have written; without it, all rows, `total` in number. Many rows are read in short
   * transactions. What changes meanwhile is read after them, so that all that was read is at last that of `final`.
   */
  async *#changes(
    parts: Parts,
    final: FinalSnapshot,
    since: string | undefined,
    total: number,
  ): AsyncGenerator<TextRow[]> {
    const { relation, statements, signal } = parts;
    let horizon = since;
    if (horizon === undefined && total <= MAX_FINAL_ROWS) {
      yield* cursor(final.snapshot, statements.ordered());
      final.count = total;
      return;
    }
    for (let pass = 1; pass <= MAX_PASSES; pass += 1) {
      if (horizon !== undefined) {
        const [[count] = []] = await final.snapshot.rows(statements.changedCount(), [
          xidOf(horizon),
          MAX_FINAL_ROWS + 1,
        ]);
        if (Number(count) <= MAX_FINAL_ROWS) break;
      }
      const next = String(final.moment.horizon);
      await final.snapshot.end();
      yield* this.#chunks(parts, horizon);
      const again = await this.#open(signal);
      final.snapshot = again.snapshot;
      final.moment = await momentOf(again.snapshot);
      if (again.relation.layout !== relation.layout || again.relation.identity !== relation.identity) {
        throw new CosiftError('source_unavailable', 'the table of the source was changed while it was read');
      }
      if (next === horizon) break;
      horizon = next;
    }
    yield* cursor(final.snapshot, statements.changed(), [xidOf(horizon as string)]);
    final.count = await countOf(final.snapshot, statements);
  }

  /** Yields rows in the order of their keys, each batch in a transaction of its own. */
  async *#chunks(
    { relation, statements, signal }: Parts,
    since: string | undefined,
  ): AsyncGenerator<TextRow[]> {
    const values = since === undefined ? [] : [xidOf(since)];
    let last: TextRow | undefined;
    for (;;) {
      const snapshot = await this.#connection.snapshot({ signal, rls: this.#definition.rls ?? false });
      let rows: TextRow[];
      try {
        const text = statements.chunk({ isFirst: last === undefined, changed: since !== undefined });
        rows = await snapshot.rows(text, [...values, ...(last?.slice(0, relation.key.length) ?? [])]);
      } finally {
        await snapshot.end();
      }
      if (rows.length > 0) yield rows;
      if (rows.length < CHUNK) return;
      last = rows.at(-1);
    }
  }

  #batches(rows: AsyncIterable<TextRow[]>, relation: Relation): AsyncGenerator<SourceBatch> {
    const partsOf = (row: TextRow) => row.slice(0, relation.key.length);
    return batchesOf(rows, partsOf, (row, key) => {
      const parts = partsOf(row);
      if (parts.includes(null)) throw new BadValue('a column of the key is NULL');
      return this.#row(key, row.slice(parts.length), relation);
    });
  }

  #row(key: string, texts: TextRow, { columns }: Relation): SourceRow {
    const { times } = this.#definition;
    const values = columns.map((column, at) => column.read(texts[at] ?? null));
    const [created, changed] = texts.slice(columns.length);
    return {
      key,
      data: dataOf(columns, values),
      created: instantOfTime(times?.created ?? '', created ?? null),
      changed: instantOfTime(times?.changed ?? '', changed ?? null),
    };
  }
}

interface Parts {
  relation: Relation;
  statements: Statements;
  readAt: Date;
  signal: AbortSignal;
  snapshot: Snapshot;
}

/** What a snapshot of PostgreSQL sees. */
interface Moment {
  text: string;
  /** The oldest transaction that is open: everything before it is seen, unless it was rolled back. */
  horizon: bigint;
  /** The first transaction that has not begun. */
  next: bigint;
}

async function momentOf(snapshot: Snapshot): Promise<Moment> {
  const [[text, horizon, next] = []] = (await snapshot.rows(
    'SELECT s::text, pg_snapshot_xmin(s)::text, pg_snapshot_xmax(s)::text FROM (SELECT pg_current_snapshot() AS s) AS now',
  )) as string[][];
  return { text: text as string, horizon: BigInt(horizon as string), next: BigInt(next as string) };
}

/** Whether the rows that changed since a bookmark can be told. A server that was reset to an earlier moment has older transactions. */
function isAfter({ next }: Moment, { horizon, snapshot }: TableBookmark): boolean {
  const former = snapshot?.split(':')[1];
  return (
    former !== undefined &&
    horizon !== undefined &&
    next >= BigInt(former) &&
    next - BigInt(horizon) <= MAX_BEHIND
  );
}

/** The snapshot that a round ends with. */
class FinalSnapshot {
  snapshot: Snapshot;
  moment: Moment;
  count = 0;

  constructor(snapshot: Snapshot, moment: Moment) {
    this.snapshot = snapshot;
    this.moment = moment;
  }

  async *keys(statements: Statements): AsyncGenerator<string[]> {
    for await (const rows of cursor(this.snapshot, statements.keys()))
      yield rows.map(([key]) => key as string);
  }
}

async function countOf(snapshot: Snapshot, statements: Statements): Promise<number> {
  const [[count] = []] = await snapshot.rows(statements.count());
  return Number(count);
}

/** The number of a transaction in the rows of tables, which have its lower 32 bits. */
function xidOf(transaction: string): string {
  return String(BigInt.asUintN(32, BigInt(transaction)));
}

/** Yields the rows of a query, a batch at a time. */
async function* cursor(
  snapshot: Snapshot,
  query: string,
  values: readonly unknown[] = [],
): AsyncGenerator<TextRow[]> {
  await snapshot.rows(`DECLARE source NO SCROLL CURSOR FOR ${query}`, values);
  for (;;) {
    const rows = await snapshot.rows(`FETCH ${CHUNK} FROM source`);
    if (rows.length > 0) yield rows;
    if (rows.length < CHUNK) break;
  }
  await snapshot.rows('CLOSE source');
}

/** Refuses two rows with one key, which are neighbours. */
async function* unique(batches: AsyncIterable<TextRow[]>, parts: number): AsyncGenerator<TextRow[]> {
  let last: string | undefined;
  for await (const batch of batches) {
    for (const row of batch) {
      const key = row.slice(0, parts);
      if (key.includes(null)) continue;
      const text = JSON.stringify(key);
      if (text === last)
        throw new CosiftError(
          'source_failed',
          `\`key\` does not identify the rows: two have ${key.join(', ')}`,
        );
      last = text;
    }
    yield batch;
  }
}
