import { CosiftError } from '../../../errors.js';
import {
  type Bookmark,
  keyOf,
  type Round,
  type SourceBatch,
  type SourceShape,
  type SyncSource,
} from '../../source.js';
import type { TableDefinition } from '../definition.js';
import { bookmarkOf, comparable, type TableBookmark } from '../table-bookmark.js';
import { type TextRow, textBatches, uniqueRows } from '../text-rows.js';
import { ChangeLog, dropSlot, type LoggedChanges, type LogPosition } from './change-log.js';
import { type Snapshot, SourceConnection } from './connection.js';
import { Moment, xidOf } from './moment.js';
import { lockableName, type Relation, readRelation } from './relation.js';
import { CHUNK, Statements } from './statements.js';

/** Changed rows that are read in one transaction. More of them are read in short ones before. */
const MAX_FINAL_ROWS = 2_000;
/** Passes over the changed rows before the last one: under a long transaction, the same rows stay changed. */
const MAX_PASSES = 3;
/** A transaction that is this far behind may soon be in the future: the numbers of PostgreSQL have 32 bits. */
const MAX_BEHIND = 1_500_000_000n;

/** Where a table is read next. */
type PostgresBookmark = TableBookmark & {
  /** The oldest transaction that was open: no row that was read is of it or of a later one. Polls only. */
  horizon?: string;
  /** The snapshot as PostgreSQL writes it. Polls only. */
  snapshot?: string;
  /** Where the log of changes is read next, if there is one. */
  log?: LogPosition | undefined;
  /** Scans only. */
  digest?: string;
};

/** A table, a view or a query of PostgreSQL. It is only read, with the right SELECT. */
export class PostgresSource implements SyncSource {
  readonly #connection: SourceConnection;
  readonly #definition: TableDefinition;
  readonly #log: ChangeLog | undefined;
  readonly hasChanged?: (signal: AbortSignal) => Promise<boolean>;
  /** Why the log of changes could not be read. The next round fails with it. */
  #logFailure: unknown;

  constructor(url: string, definition: TableDefinition) {
    this.#connection = new SourceConnection(url);
    this.#definition = definition;
    if (definition.stream === undefined) return;
    const log = new ChangeLog(definition.stream, new SourceConnection(url));
    this.#log = log;
    this.hasChanged = (signal) =>
      log.hasChanged(this.#connection, signal).catch((error: unknown) => {
        this.#logFailure = error;
        return true;
      });
  }

  get byScan(): string | undefined {
    return this.#log?.unusable;
  }

  async shape(signal: AbortSignal): Promise<SourceShape> {
    const { snapshot, relation } = await this.#open(signal);
    await snapshot.end();
    const { identity, types, key, notices } = relation;
    return { identity, columns: types, key: key.map(({ name }) => name), notices };
  }

  async round(before: Bookmark | null, whole: boolean, signal: AbortSignal): Promise<Round | null> {
    const readAt = new Date();
    const failure = this.#logFailure;
    this.#logFailure = undefined;
    if (failure !== undefined) throw failure;
    const { snapshot, relation, logEnd } = await this.#open(signal);
    try {
      const statements = new Statements(relation, this.#definition);
      const stored = before as PostgresBookmark | null;
      const same = comparable(stored, relation, this.#definition);
      const known = whole ? undefined : same;
      const parts = { relation, statements, readAt, signal, snapshot, log: stored?.log, logEnd };
      const left = stored?.log?.slot;
      if (left !== undefined && left !== this.#definition.stream) await dropSlot(snapshot, left);
      if (relation.method === 'scan') return await this.#scan(parts, known);
      const moment = await Moment.of(snapshot);
      const logged = known && (await this.#log?.changes(snapshot, moment, known.log, signal));
      if (logged === undefined) return await this.#poll(parts, moment, known);
      return await this.#logged(parts, moment, logged);
    } catch (error) {
      await snapshot.end();
      throw error;
    }
  }

  async forget(signal: AbortSignal): Promise<void> {
    await this.#log?.drop(this.#connection, signal);
  }

  async close(): Promise<void> {
    await this.#log?.close();
    await this.#connection.close();
  }

  /** Reads what the source is, in a snapshot that stays open. */
  async #open(signal: AbortSignal): Promise<Pick<Parts, 'snapshot' | 'relation' | 'logEnd'>> {
    const rls = this.#definition.rls ?? false;
    const first = await this.#connection.snapshot({ signal, rls });
    let locked: string | undefined;
    let logEnd = 0n;
    try {
      locked = await lockableName(first, this.#definition);
      logEnd = (await this.#log?.end(first)) ?? 0n;
    } finally {
      await first.end();
    }
    const snapshot = await this.#connection.snapshot({ signal, rls, locked });
    try {
      const relation = await readRelation(snapshot, this.#definition);
      const key = relation.key.map(({ name }) => name);
      await this.#log?.check(snapshot, relation.table as string, key);
      return { snapshot, relation, logEnd };
    } catch (error) {
      await snapshot.end();
      throw error;
    }
  }

  /** All rows of one snapshot; null if they are those of the bookmark. */
  async #scan({ relation, statements, readAt, snapshot }: Parts, known: PostgresBookmark | undefined) {
    const [[digest] = []] = await snapshot.rows(statements.digest());
    if (known !== undefined && known.digest === digest) {
      await snapshot.end();
      return null;
    }
    const batches = uniqueRows(cursor(snapshot, statements.ordered()), relation.key.length);
    return {
      kind: 'complete' as const,
      readAt,
      total: Number(digest?.split(' ')[0]),
      batches: this.#batches(batches, relation),
      bookmark: () => ({ ...bookmarkOf(relation, this.#definition), digest }),
      close: () => snapshot.end(),
    };
  }

  /** The rows that changed since the bookmark, or all rows without one; null if nothing has changed. */
  async #poll(parts: Parts, moment: Moment, before: PostgresBookmark | undefined): Promise<Round | null> {
    const { relation, statements, readAt, snapshot } = parts;
    // A log of changes needs a position to begin with.
    if (before?.snapshot === moment.text && this.#log === undefined) {
      await snapshot.end();
      return null;
    }
    const since = before !== undefined && isAfter(moment, before) ? before.horizon : undefined;
    const final = new FinalSnapshot(snapshot, moment, parts.logEnd);
    const total = await countOf(snapshot, statements);
    return {
      kind: 'keys',
      readAt,
      ...(since === undefined && { total }),
      batches: this.#batches(this.#changes(parts, final, since, total), relation),
      keys: final.keys(statements),
      count: () => final.count,
      bookmark: () => ({
        ...bookmarkOf(relation, this.#definition),
        ...this.#placeOf(final.moment, final.position),
      }),
      close: () => final.snapshot.end(),
    };
  }

  /** The members of a bookmark that say where a round ended. */
  #placeOf({ horizon, text }: Moment, log: LogPosition | undefined) {
    this.#log?.keep(log);
    return { horizon: String(horizon), snapshot: text, log };
  }

  /** The rows whose keys the log has. */
  async #logged(
    { relation, statements, readAt, snapshot }: Parts,
    moment: Moment,
    { keys, next, isNews }: LoggedChanges,
  ): Promise<Round | null> {
    if (!isNews) {
      await snapshot.end();
      return null;
    }
    const batches = async function* (this: PostgresSource): AsyncGenerator<SourceBatch> {
      for (let at = 0; at < keys.length; at += CHUNK) {
        const chunk = keys.slice(at, at + CHUNK);
        const parts = relation.key.map((_, part) => chunk.map((key) => key[part]));
        const rows = await snapshot.rows(statements.ofKeys(), parts);
        const texts = await snapshot.rows(statements.keyTexts(), parts);
        const keyIn = (row: TextRow) => keyOf(row.slice(0, parts.length) as string[]);
        const found = new Set(rows.map(keyIn));
        yield* this.#batches(one(rows), relation);
        yield { rows: [], gone: texts.map(keyIn).filter((key) => !found.has(key)) };
      }
    };
    return {
      kind: 'changes',
      readAt,
      batches: batches.call(this),
      bookmark: () => ({ ...bookmarkOf(relation, this.#definition), ...this.#placeOf(moment, next) }),
      close: () => snapshot.end(),
    };
  }

  /** Yields the rows of a poll, and keeps where the log of changes goes on after them. */
  async *#changes(
    parts: Parts,
    final: FinalSnapshot,
    since: string | undefined,
    total: number,
  ): AsyncGenerator<TextRow[]> {
    yield* this.#changedRows(parts, final, since, total);
    final.position = await this.#log?.position(final.snapshot, final.moment, parts.log, final.logEnd);
  }

  /**
   * Yields the rows that transactions from `since` on have written; without it, all rows, `total` in number. Many rows are read in short
   * transactions. What changes meanwhile is read after them, so that all that was read is at last that of `final`.
   */
  async *#changedRows(
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
      final.moment = await Moment.of(again.snapshot);
      final.logEnd = again.logEnd;
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

  #batches(rows: AsyncIterable<TextRow[]>, { key, columns }: Relation): AsyncGenerator<SourceBatch> {
    return textBatches(rows, { keyParts: key.length, columns, times: this.#definition.times });
  }
}

interface Parts {
  relation: Relation;
  statements: Statements;
  readAt: Date;
  signal: AbortSignal;
  snapshot: Snapshot;
  /** Where the log of changes was read to. */
  log: LogPosition | undefined;
  /** The end of the log before the snapshot. */
  logEnd: bigint;
}

/** Whether the rows that changed since a bookmark can be told. A server that was reset to an earlier moment has older transactions. */
function isAfter({ next }: Moment, { horizon, snapshot }: PostgresBookmark): boolean {
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
  position: LogPosition | undefined;
  /** The end of the log of changes before the snapshot. */
  logEnd: bigint;

  constructor(snapshot: Snapshot, moment: Moment, logEnd: bigint) {
    this.snapshot = snapshot;
    this.moment = moment;
    this.logEnd = logEnd;
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

async function* one<T>(item: T): AsyncGenerator<T> {
  yield item;
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
