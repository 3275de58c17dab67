import { join } from 'node:path';
import { dataOf } from '../../data/columns.js';
import type { Dataset } from '../../data/dataset.js';
import { conditionOf, SQLITE } from '../dialect.js';
import { requirePeerModule } from '../modules.js';
import { cutPage, type Hits, type PageRequest, type Peer, type PeerCard, reach } from '../peer.js';

interface Statement {
  run(...values: unknown[]): void;
  raw(): Statement;
  all(...values: unknown[]): [number, number][];
}

interface Database {
  exec(sql: string): void;
  pragma(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

/** A vec0 table, and a table of columns with an index on each column that is compared. */
export const SQLITE_VEC: PeerCard = {
  name: 'sqlite-vec',
  exact: true,
  keeps: true,
  maxRecords: 1_000_000,
  settings: 'vec0, cosine, columns in an indexed table',
  make: async () => new SqliteVec(),
};

class SqliteVec implements Peer {
  #database?: Database;
  readonly #statements = new Map<string, Statement>();

  load(dataset: Dataset, directory: string): void {
    const { records, dimensions, vectors, columns } = dataset;
    const database = this.#open(directory);
    database.exec(`
      CREATE VIRTUAL TABLE vectors USING vec0(embedding float[${dimensions}] distance_metric=cosine);
      CREATE TABLE records (id INTEGER PRIMARY KEY, category TEXT, price REAL, flag INTEGER, title TEXT, synced INTEGER)`);
    const intoVectors = database.prepare('INSERT INTO vectors (rowid, embedding) VALUES (?, ?)');
    const intoRecords = database.prepare('INSERT INTO records VALUES (?, ?, ?, ?, ?, ?)');
    database.exec('BEGIN');
    for (let i = 0; i < records; i++) {
      const { category, price, flag, title } = dataOf(columns, i);
      intoVectors.run(BigInt(i + 1), bytesOf(vectors.subarray(i * dimensions, (i + 1) * dimensions)));
      intoRecords.run(i + 1, category, price, flag ? 1 : 0, title, columns.synced[i]);
    }
    database.exec(`COMMIT;
      CREATE INDEX by_category ON records (category);
      CREATE INDEX by_price ON records (price);
      CREATE INDEX by_synced ON records (synced);
      ANALYZE`);
  }

  reopen(_dataset: Dataset, directory: string): void {
    this.#open(directory);
  }

  search(query: Float32Array, request: PageRequest): Hits {
    const condition = conditionOf(request.filter, SQLITE);
    const found = this.#statement(condition).all(bytesOf(query), BigInt(reach(request)));
    return cutPage(
      found.map((row) => row[0]),
      found.map((row) => 1 - row[1]),
      request,
    );
  }

  close(): void {
    this.#database?.close();
  }

  #open(directory: string): Database {
    const Sqlite = requirePeerModule<new (path: string) => Database>('better-sqlite3');
    const { load } = requirePeerModule<{ load(database: Database): void }>('sqlite-vec');
    const database = new Sqlite(join(directory, 'records.sqlite'));
    load(database);
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = OFF');
    database.pragma('mmap_size = 8000000000');
    this.#database = database;
    return database;
  }

  #statement(condition: string | undefined): Statement {
    const key = condition ?? '';
    const kept = this.#statements.get(key);
    if (kept !== undefined) return kept;
    if (this.#database === undefined) throw new Error('not loaded');
    const among = condition === undefined ? '' : `AND rowid IN (SELECT id FROM records WHERE ${condition})`;
    const statement = this.#database
      .prepare(
        `SELECT rowid, distance FROM vectors WHERE embedding MATCH ? AND k = ? ${among} ORDER BY distance`,
      )
      .raw();
    this.#statements.set(key, statement);
    return statement;
  }
}

function bytesOf(values: Float32Array): Buffer {
  return Buffer.from(values.buffer, values.byteOffset, values.byteLength);
}
