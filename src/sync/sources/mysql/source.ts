import type { Bookmark, Round, SourceShape, SyncSource } from '../../source.js';
import type { TableDefinition } from '../definition.js';
import { bookmarkOf, comparable, type TableBookmark } from '../table-bookmark.js';
import { type TextRow, textBatches, uniqueRows } from '../text-rows.js';
import { type Session, SourceConnection } from './connection.js';
import { findTable, type Relation, readRelation, type Table } from './relation.js';
import { spooled } from './spool.js';
import { Statements } from './statements.js';

type MysqlBookmark = TableBookmark & {
  /** The number of rows and the sum of their hashes. */
  digest?: string;
};

/** Rows that a table has as long as it has a version, on one connection: after a restart, versions mean nothing. */
interface Seen {
  connection: symbol;
  version: string;
  digest: string;
}

/**
 * A table, a view or a query of MySQL or MariaDB. It is only read, with the right SELECT. Every round has all rows; there is none
 * while their checksum stays the same. It is not computed while the server says that the table has not changed.
 */
export class MysqlSource implements SyncSource {
  readonly #connection: SourceConnection;
  readonly #definition: TableDefinition;
  #seen: Seen | undefined;

  constructor(url: string, definition: TableDefinition) {
    this.#connection = new SourceConnection(url);
    this.#definition = definition;
  }

  async shape(signal: AbortSignal): Promise<SourceShape> {
    const { session, relation } = await this.#open(signal);
    await session.end();
    const { identity, types, key, notices } = relation;
    return { identity, columns: types, key: key.map(({ name }) => name), notices };
  }

  async round(before: Bookmark | null, whole: boolean, signal: AbortSignal): Promise<Round | null> {
    const readAt = new Date();
    const { session, found, relation } = await this.#open(signal);
    try {
      const statements = new Statements(relation, this.#definition);
      const known = comparable(before as MysqlBookmark | null, relation, this.#definition);
      const digest = whole ? undefined : known?.digest;
      if (digest !== undefined && (await this.#isSeen(session, found, digest))) {
        await session.end();
        return null;
      }
      const [counts = []] = await session.rows(
        digest === undefined ? statements.count() : statements.digest(),
      );
      if (digest !== undefined && counts.join(' ') === digest) {
        this.#remember(session, found, digest);
        await session.end();
        return null;
      }
      const rows = new HashedRows(session, statements);
      const ordered = relation.isUnique ? rows.batches() : uniqueRows(rows.batches(), relation.key.length);
      const { columns, key } = relation;
      return {
        kind: 'complete',
        readAt,
        total: Number(counts[0]),
        batches: textBatches(spooled(ordered), {
          keyParts: key.length,
          columns,
          times: this.#definition.times,
        }),
        bookmark: () => {
          this.#remember(session, found, rows.digest);
          return { ...bookmarkOf(relation, this.#definition), digest: rows.digest };
        },
        close: () => session.end(),
      };
    } catch (error) {
      await session.end();
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /** Reads what the source is, in a transaction that stays open and keeps its definition. */
  async #open(
    signal: AbortSignal,
  ): Promise<{ session: Session; found: Table | undefined; relation: Relation }> {
    const session = await this.#connection.session(signal);
    const { table } = this.#definition;
    // Before the snapshot: a change between the two is in the rows, and makes another version.
    const found = table === undefined ? undefined : await findTable(session, table);
    await session.begin();
    try {
      return { session, found, relation: await readRelation(session, this.#definition, found) };
    } catch (error) {
      await session.end();
      throw error;
    }
  }

  #remember({ id }: Session, found: Table | undefined, digest: string): void {
    const { text, isSettled } = found?.version ?? {};
    this.#seen = text !== undefined && isSettled ? { connection: id, version: text, digest } : undefined;
  }

  /** Whether the table has the rows of a digest, as far as its version tells. A TRUNCATE leaves the version, and no row. */
  async #isSeen(session: Session, found: Table | undefined, digest: string): Promise<boolean> {
    const seen = this.#seen;
    if (found === undefined || seen?.connection !== session.id) return false;
    if (seen.version !== found.version?.text || seen.digest !== digest) return false;
    return (await session.rows(`SELECT 1 FROM ${found.name} LIMIT 1`)).length > 0;
  }
}

/** All rows, with the digest of those that were read. */
class HashedRows {
  readonly #session: Session;
  readonly #statements: Statements;
  #count = 0;
  #sum = 0n;

  constructor(session: Session, statements: Statements) {
    this.#session = session;
    this.#statements = statements;
  }

  /** As {@link Statements.digest} computes it. */
  get digest(): string {
    return `${this.#count} ${this.#sum}`;
  }

  /** Ends the transaction after the last row. */
  async *batches(): AsyncGenerator<TextRow[]> {
    for await (const batch of this.#session.stream(this.#statements.rows())) {
      this.#count += batch.length;
      for (const row of batch) this.#sum += BigInt(row.at(-1) as string);
      yield batch;
    }
    await this.#session.end();
  }
}
