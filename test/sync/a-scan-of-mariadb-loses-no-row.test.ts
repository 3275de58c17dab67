import mysql from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MariaDbServer, NO_MARIADB } from '../../scripts/mariadb/server.js';
import { isCode } from '../../src/errors.js';
import { MysqlSource } from '../../src/sync/sources/mysql/source.js';
import { inFull } from '../helpers/full.js';
import { Random } from '../helpers/random.js';
import { Follower } from './follower.js';

const WRITERS = 4;
const TRANSACTIONS = inFull(1_500, 120);
const KILLS = inFull(20, 2);
/** Changes within the second of the last pass. */
const QUICK = inFull(300, 40);

describe.skipIf(NO_MARIADB !== undefined)(`a scan of MariaDB${NO_MARIADB ? ` (${NO_MARIADB})` : ''}`, () => {
  let server: MariaDbServer;
  let url: string;
  let client: mysql.Connection;
  const connect = () => mysql.createConnection({ uri: url, multipleStatements: true });
  const sql = async (...statements: string[]) => {
    for (const statement of statements) await client.query(statement);
  };
  const valuesIn = ({ records }: Follower) =>
    Object.fromEntries([...records].map(([key, text]) => [key, JSON.parse(text).data.value]));

  beforeAll(async () => {
    server = await MariaDbServer.start('--log-output=TABLE');
    url = await server.createDatabase();
    client = await connect();
  });
  afterAll(async () => {
    await client?.end();
    await server?.stop();
  });

  /** What happens to a table, by its name; then its rows. Each table has the rows `1 a` and `2 b` before. */
  const CHANGES: Record<string, [change: () => Promise<void>, rows: Record<string, string>]> = {
    updated: [() => sql("UPDATE updated SET value = 'x' WHERE id = 1"), { 1: 'x', 2: 'b' }],
    inserted: [() => sql("INSERT INTO inserted VALUES (3, 'c')"), { 1: 'a', 2: 'b', 3: 'c' }],
    deleted: [() => sql('DELETE FROM deleted WHERE id = 2'), { 1: 'a' }],
    replaced: [() => sql("REPLACE INTO replaced VALUES (1, 'x')"), { 1: 'x', 2: 'b' }],
    moved: [() => sql('UPDATE moved SET id = 9 WHERE id = 1'), { 9: 'a', 2: 'b' }],
    cascaded: [() => sql('DELETE FROM cascading WHERE id = 1'), { 2: 'b' }],
    triggered: [() => sql('INSERT INTO triggering VALUES (1)'), { 1: 'by a trigger', 2: 'b' }],
    late: [() => sql('COMMIT'), { 1: 'late', 2: 'b' }],
    prepared: [() => sql("XA COMMIT 'prepared'"), { 1: 'prepared', 2: 'b' }],
    truncated: [() => sql('TRUNCATE truncated'), {}],
    swapped: [() => sql('RENAME TABLE swapped TO gone, twin TO swapped'), { 1: 'twin' }],
    altered: [() => sql('ALTER TABLE altered MODIFY value char(1)'), { 1: 'a', 2: 'b' }],
    computed: [
      () => sql("ALTER TABLE computed DROP value, ADD value char(9) AS (CONCAT('id ', id)) STORED"),
      { 1: 'id 1', 2: 'id 2' },
    ],
    evicted: [
      () => sql('FLUSH TABLES evicted', "UPDATE evicted SET value = 'x' WHERE id = 2"),
      { 1: 'a', 2: 'x' },
    ],
    exchanged: [() => sql('ALTER TABLE parts EXCHANGE PARTITION low WITH TABLE exchanged'), { 1: 'part' }],
    parts_written: [() => sql("UPDATE parts_written SET value = 'x' WHERE id = 2"), { 1: 'a', 2: 'x' }],
  };

  test('is not made while nothing changes, and made after each kind of change', async () => {
    const names = Object.keys(CHANGES);
    const other = await connect();
    for (const name of names) {
      const parts = name === 'parts_written' ? ' PARTITION BY HASH (id) PARTITIONS 3' : '';
      await sql(`CREATE TABLE ${name} (id int PRIMARY KEY, value char(20))${parts}`);
    }
    await sql(
      'CREATE TABLE cascading (id int PRIMARY KEY)',
      'INSERT INTO cascading VALUES (1), (2)',
      'ALTER TABLE cascaded ADD FOREIGN KEY (id) REFERENCES cascading (id) ON DELETE CASCADE',
      'CREATE TABLE triggering (id int)',
      `CREATE TRIGGER on_insert AFTER INSERT ON triggering FOR EACH ROW
        UPDATE triggered SET value = 'by a trigger' WHERE id = NEW.id`,
      'CREATE TABLE twin LIKE swapped',
      "INSERT INTO twin VALUES (1, 'twin')",
      ...names.map((name) => `INSERT INTO ${name} VALUES (1, 'a'), (2, 'b')`),
    );
    const followers = new Map(
      names.map((table) => {
        const source = new MysqlSource(url, { table, columns: ['value'] });
        return [table, { source, follower: new Follower(source) }];
      }),
    );
    const passes = async () => {
      const results = [];
      for (const { follower } of followers.values()) results.push(await follower.pass());
      return results;
    };
    const scans = async () => {
      const [rows] = await client.query(
        "SELECT DISTINCT argument FROM mysql.general_log WHERE command_type = 'Query' AND argument LIKE 'SELECT COUNT(*), COALESCE(SUM(%'",
      );
      await sql('TRUNCATE mysql.general_log');
      return (rows as { argument: Buffer }[]).map(
        ({ argument }) => /FROM `\w+`\.`(\w+)`/.exec(`${argument}`)?.[1],
      );
    };
    try {
      await passes();
      await sql('SET GLOBAL general_log = 1');
      // Until all tables have been unchanged for seconds.
      await expect
        .poll(
          async () => {
            expect(new Set(await passes())).toEqual(new Set([undefined]));
            return await scans();
          },
          { timeout: 20_000 },
        )
        .toEqual(['parts_written']);
      // Other seconds than those of the rows above.
      await sql(
        'CREATE TABLE parts (id int PRIMARY KEY, value char(20)) PARTITION BY RANGE (id) (PARTITION low VALUES LESS THAN (9))',
        "INSERT INTO parts VALUES (1, 'part')",
        'BEGIN',
        "UPDATE late SET value = 'late' WHERE id = 1",
      );
      await other.query("XA START 'prepared'");
      await other.query("UPDATE prepared SET value = 'prepared' WHERE id = 1");
      await other.query("XA END 'prepared'");
      await other.query("XA PREPARE 'prepared'");
      await other.end();
      expect(new Set(await passes())).toEqual(new Set([undefined]));
      expect(await scans()).toEqual(['parts_written']);
      await CHANGES.late?.[0]();
      for (const [name, [change, rows]] of Object.entries(CHANGES)) {
        if (name !== 'late') await change();
        const { follower } = followers.get(name) as { follower: Follower };
        await follower.pass();
        expect({ name, rows: valuesIn(follower) }).toEqual({ name, rows });
      }
      await sql('SET GLOBAL general_log = 0', 'TRUNCATE mysql.general_log');
    } finally {
      await Promise.all([...followers.values()].map(({ source }) => source.close()));
    }
  }, 60_000);

  test('is made again in the second of a change', async () => {
    await sql('CREATE TABLE quick (id int PRIMARY KEY, value int)', 'INSERT INTO quick VALUES (1, 0)');
    const source = new MysqlSource(url, { table: 'quick', columns: ['value'] });
    const follower = new Follower(source);
    const seen: unknown[] = [];
    for (let value = 1; value <= QUICK; value += 1) {
      await sql(`UPDATE quick SET value = ${value}`);
      await follower.pass();
      seen.push(valuesIn(follower)[1]);
      // The second look at the same rows, which only says that they are the same.
      expect(await follower.pass()).toBeUndefined();
    }
    await source.close();
    expect(seen).toEqual(Array.from({ length: QUICK }, (_, at) => at + 1));
  });

  test('has at each moment what the table had, under transactions of all kinds and kills of the server', async () => {
    await sql(
      'CREATE TABLE items (id int PRIMARY KEY, value varchar(60) NOT NULL)',
      `INSERT INTO items VALUES ${Array.from({ length: WRITERS }, (_, at) => `(${at}, '0 ')`).join(', ')}`,
    );
    const source = new MysqlSource(url, { table: 'items', columns: ['value'] });
    const follower = new Follower(source);
    const writers = Array.from({ length: WRITERS }, (_, at) => new Writer(at, connect));
    let writing = true;
    const written = Promise.all(writers.map((writer) => writer.write(TRANSACTIONS / WRITERS))).finally(() => {
      writing = false;
    });
    const counts = { passes: 0, failed: 0, late: 0, wrong: 0 };
    let kills = 0;
    try {
      for (let isLast = false; !isLast; ) {
        isLast = !writing;
        const done = writers.reduce((sum, writer) => sum + writer.done, 0);
        if (kills < KILLS && done > ((kills + 1) * TRANSACTIONS) / (KILLS + 1)) {
          kills += 1;
          await server.kill();
          await server.restart();
        }
        const acknowledged = writers.map(({ version }) => version);
        const pass = await follower.pass().catch(retried);
        if (pass === RETRIED) {
          counts.failed += 1;
          isLast = false;
          continue;
        }
        counts.passes += Number(pass !== undefined);
        const rows = Object.entries(valuesIn(follower)).map(
          ([key, value]) => [Number(key), value as string] as const,
        );
        for (const [at] of writers.entries()) {
          const own = new Map(rows.filter(([id]) => id >= WRITERS && id % WRITERS === at));
          const [version, digest] = (rows.find(([id]) => id === at)?.[1] ?? '-1 ').split(' ');
          counts.late += Number(Number(version) < (acknowledged[at] as number));
          counts.wrong += Number(digest !== digestOf(own));
        }
      }
      await written;
    } finally {
      await written.catch(() => undefined);
      await source.close();
      client = await connect();
    }
    expect(counts).toMatchObject({ late: 0, wrong: 0 });
    expect(kills).toBe(KILLS);
    expect(counts.passes).toBeGreaterThan(10);
  }, 300_000);
});

const RETRIED = Symbol('retried');

/** The server was killed, or the definition changed. */
function retried(error: unknown): typeof RETRIED {
  if (isCode(error, 'source_unavailable')) return RETRIED;
  throw error;
}

/** What a writer says of all its rows in one of them, in the same transaction. */
function digestOf(rows: ReadonlyMap<number, string>): string {
  let sum = 0;
  for (const [id, value] of rows) sum += id * 31 + Number(value.slice(1)) * 7;
  return `${rows.size}-${sum}`.replace(/^0-0$/, '');
}

/** Writes transactions of random changes to the rows whose ids have one remainder. The row with this id describes the others. */
class Writer {
  readonly #at: number;
  readonly #connect: () => Promise<mysql.Connection>;
  readonly #random: Random;
  #client: mysql.Connection | undefined;
  #rows = new Map<number, string>();
  /** The last version whose commit was acknowledged. */
  version = 0;
  done = 0;

  constructor(at: number, connect: () => Promise<mysql.Connection>) {
    this.#at = at;
    this.#connect = connect;
    this.#random = new Random(at + 1);
  }

  async write(transactions: number): Promise<void> {
    while (this.done < transactions) {
      try {
        if (this.#client === undefined) await this.#open();
        await this.#transaction();
        this.done += 1;
      } catch (error) {
        this.#client?.destroy();
        this.#client = undefined;
        // The server was killed. A deadlock only repeats the transaction.
        if (
          (error as { sqlState?: string }).sqlState !== undefined &&
          !/DEADLOCK|SHUTDOWN|INTERRUPTED/.test(`${(error as { code?: string }).code}`)
        )
          throw error;
      }
    }
    await this.#client?.end();
  }

  /** Reads what the last transaction has left: whether it was committed is not known. */
  async #open(): Promise<void> {
    const client = await this.#connect();
    client.on('error', () => undefined);
    this.#client = client;
    const [rows] = await client.query(`SELECT id, value FROM items WHERE id % ${WRITERS} = ${this.#at}`);
    const all = new Map((rows as { id: number; value: string }[]).map(({ id, value }) => [id, value]));
    this.version = Number(all.get(this.#at)?.split(' ')[0]);
    all.delete(this.#at);
    this.#rows = all;
  }

  async #transaction(): Promise<void> {
    const random = this.#random;
    const client = this.#client as mysql.Connection;
    let rows = new Map(this.#rows);
    await client.query('BEGIN');
    for (let changes = 1 + random.below(4); changes > 0; changes -= 1) {
      const isNested = random.chance(40);
      const before = new Map(rows);
      if (isNested) await client.query('SAVEPOINT inner_part');
      await this.#change(client, rows);
      if (!isNested) continue;
      const isUndone = random.chance(30);
      await client.query(`${isUndone ? 'ROLLBACK TO' : 'RELEASE'} SAVEPOINT inner_part`);
      if (isUndone) rows = before;
    }
    const next = this.version + 1;
    await client.query('UPDATE items SET value = ? WHERE id = ?', [`${next} ${digestOf(rows)}`, this.#at]);
    if (random.chance(20)) await client.query('DO SLEEP(?)', [random.next() / 50]);
    if (random.chance(15)) {
      await client.query('ROLLBACK');
      return;
    }
    await client.query('COMMIT');
    this.#rows = rows;
    this.version = next;
  }

  async #change(client: mysql.Connection, rows: Map<number, string>): Promise<void> {
    const random = this.#random;
    const id = WRITERS * (1 + random.below(40)) + this.#at;
    const value = `v${1 + random.below(1_000_000)}`;
    const roll = random.below(100);
    if (roll < 45) {
      await client.query('REPLACE INTO items VALUES (?, ?)', [id, value]);
      rows.set(id, value);
    } else if (roll < 65) {
      await client.query('DELETE FROM items WHERE id = ?', [id]);
      rows.delete(id);
    } else if (roll < 97) {
      const target = WRITERS * (41 + random.below(40)) + this.#at;
      const old = rows.get(id);
      if (old === undefined || rows.has(target)) return;
      await client.query('UPDATE items SET id = ? WHERE id = ?', [target, id]);
      rows.delete(id);
      rows.set(target, old);
    } else {
      await client.query(`DELETE FROM items WHERE id >= ${WRITERS} AND id % ${WRITERS} = ${this.#at}`);
      rows.clear();
    }
  }
}
