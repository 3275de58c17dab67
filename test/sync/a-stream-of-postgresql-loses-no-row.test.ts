import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { open } from 'cosift';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NO_SERVER, PostgresServer } from '../../scripts/postgres/server.js';
import { statusLine } from '../../src/cli/sync/status-line.js';
import { isCode } from '../../src/errors.js';
import { describeSync } from '../../src/sync/index.js';
import type { TableDefinition } from '../../src/sync/sources/definition.js';
import { PostgresSource } from '../../src/sync/sources/postgres/source.js';
import { inFull } from '../helpers/full.js';
import { Random } from '../helpers/random.js';
import { Follower } from './follower.js';
import { NEWEST, testOnceOf, VERSIONS } from './postgres-versions.js';
import { createItems, differences, itemsIn, write } from './written-table.js';

const WRITERS = 4;
const TRANSACTIONS = inFull(500, 160);
const DEFINITION = { table: 'items', columns: ['value'], stream: 'cosift_items' };
const { signal } = new AbortController();

describe.skipIf(NO_SERVER !== undefined).each(VERSIONS)(
  `a stream of PostgreSQL %i${NO_SERVER ? ` (${NO_SERVER})` : ''}`,
  (version) => {
    let server: PostgresServer;
    let url: string;
    let client: pg.Client;
    const testOnce = testOnceOf(version);
    beforeAll(async () => {
      server = await PostgresServer.start(version);
      url = await server.createDatabase();
      await server.run('ALTER SYSTEM SET wal_level = logical');
      await server.shutDown();
      await server.restart();
      client = new pg.Client(url);
      await client.connect();
    });
    afterAll(async () => {
      await client?.end();
      await server?.stop();
    });

    /** Follows a new table with 50 rows. */
    async function followed(definition: TableDefinition = DEFINITION) {
      await dropSlots();
      await createItems(client, 50);
      const source = new PostgresSource(url, definition);
      const follower = new Follower(source);
      /** Passes until nothing may have changed. Returns the kinds of the rounds. */
      const catchUp = async () => {
        const kinds: string[] = [];
        while (await source.hasChanged?.(signal)) kinds.push((await follower.pass())?.kind ?? 'none');
        return kinds;
      };
      await follower.pass();
      expect(await catchUp()).toEqual(['keys']);
      return { source, follower, catchUp, [Symbol.asyncDispose]: () => source.close() };
    }

    async function dropSlots() {
      await client.query('SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots');
      await client.query('DROP PUBLICATION IF EXISTS cosift_items');
    }

    const copyOf = ({ records }: Follower) =>
      new Map([...records].map(([key, text]) => [key, JSON.parse(text).data.value]));

    /** Follows the table while others write it. Returns the rounds by kind, and after how many of them the copy was wrong. */
    async function follow(seed: number) {
      await using follows = await followed();
      const { source, follower } = follows;
      let writing = true;
      const writer = (at: number) => {
        let left = TRANSACTIONS / WRITERS;
        const goesOn = () => left-- > 0;
        return write(url, { random: new Random(seed + at), ids: 100, truncations: 20, refill: 0, goesOn });
      };
      const writers = Promise.all(Array.from({ length: WRITERS }, (_, at) => writer(at))).finally(() => {
        writing = false;
      });
      const counts = { changes: 0, keys: 0, complete: 0, wrong: 0 };
      try {
        for (let last = false; !last; ) {
          last = !writing;
          if (!(await source.hasChanged?.(signal))) continue;
          last = false;
          const pass = await follower.pass().catch(retried);
          if (pass === undefined) continue;
          counts[pass.kind] += 1;
          const { snapshot } = follower.bookmark as { snapshot: string };
          const found = differences(copyOf(follower), await itemsIn(client, snapshot));
          counts.wrong += Number(Object.values(found).some((number) => number > 0));
        }
        await writers;
        const rows = await client.query('SELECT id, value FROM items');
        const left = new Map(rows.rows.map(({ id, value }) => [String(id), value]));
        const found = differences(copyOf(follower), left);
        counts.wrong += Number(Object.values(found).some((number) => number > 0));
      } finally {
        await writers.catch(() => undefined);
      }
      return counts;
    }

    test.each(inFull(['on', 'off'], version === NEWEST ? ['on', 'off'] : ['on']))(
      'has at each moment what the table had, with synchronous_commit = %s',
      async (how) => {
        await client.query(`ALTER ROLE cosift SET synchronous_commit = ${how}`);
        const { wrong, changes } = await follow(version);
        expect(wrong).toBe(0);
        expect(changes).toBeGreaterThan(0);
      },
    );

    testOnce('would lose rows if it began where the log ends after a round', async () => {
      await using follows = await followed();
      const { source, follower, catchUp } = follows;
      await client.query("UPDATE items SET value = 'before' WHERE id = 1");
      const round = (await source.round(follower.bookmark, false, signal))!;
      for await (const _ of round.batches)
        await client.query("UPDATE items SET value = 'meanwhile' WHERE id = 2");
      const { rows } = await client.query('SELECT pg_current_wal_flush_lsn()::text AS lsn');
      const bookmark = round.bookmark() as { log: object };
      await round.close();
      await client.query("UPDATE items SET value = 'after' WHERE id = 3");
      const late = new Follower(source);
      late.bookmark = { ...bookmark, log: { ...bookmark.log, lsn: rows[0].lsn } };
      await late.pass();
      expect([...late.records.keys()]).toEqual(['3']);
      // It goes on where the round ended.
      await dropSlots();
      await catchUp();
      expect(copyOf(follower).get('2')).toBe('meanwhile');
    });

    test('reads the rows that have changed, and no others', async () => {
      await using follows = await followed();
      const { follower, catchUp, source } = follows;
      await client.query("UPDATE items SET value = 'second' WHERE id IN (1, 2)");
      await client.query('DELETE FROM items WHERE id = 3');
      await client.query('UPDATE items SET id = 100 WHERE id = 4');
      await client.query('BEGIN; DELETE FROM items; ROLLBACK');
      expect(await source.hasChanged?.(signal)).toBe(true);
      expect(await follower.pass()).toMatchObject({ kind: 'changes', read: 3, deleted: 2 });
      expect(copyOf(follower).get('1')).toBe('second');
      expect(copyOf(follower).get('100')).toBe('first');
      expect([...follower.records.keys()]).toHaveLength(49);
      await client.query("INSERT INTO history (id, value) VALUES (1, 'of another table')");
      expect(await catchUp()).toEqual([]);
      await client.query('TRUNCATE items');
      expect(await catchUp()).toEqual(['keys']);
      expect(follower.records.size).toBe(0);
    });

    testOnce('searches the table where very many rows have changed', async () => {
      await using follows = await followed();
      const { follower, catchUp } = follows;
      await client.query("INSERT INTO items SELECT n, 'many' FROM generate_series(1001, 4000) AS n");
      expect(await catchUp()).toEqual(['keys']);
      expect(follower.records.size).toBe(3_050);
      await client.query("UPDATE items SET value = 'one' WHERE id = 4000");
      expect(await catchUp()).toEqual(['changes']);
    });

    const HARM: Record<string, string[]> = {
      'the slot is dropped': ["SELECT pg_drop_replication_slot('cosift_items')"],
      'the slot is moved': ["SELECT pg_replication_slot_advance('cosift_items', pg_current_wal_flush_lsn())"],
      'the publication is dropped': ['DROP PUBLICATION cosift_items'],
      'the publication was another one meanwhile': [
        'DROP PUBLICATION cosift_items',
        "UPDATE items SET value = 'unpublished' WHERE id = 6",
        'CREATE PUBLICATION cosift_items FOR TABLE items (id)',
      ],
      'the publication left out changes': [
        "ALTER PUBLICATION cosift_items SET (publish = 'insert')",
        "UPDATE items SET value = 'unpublished' WHERE id = 6",
        "ALTER PUBLICATION cosift_items SET (publish = 'insert, update, delete, truncate')",
      ],
    };
    for (const [harm, statements] of Object.entries(HARM)) {
      testOnce(`misses nothing after ${harm}`, async () => {
        await using follows = await followed();
        const { follower, catchUp } = follows;
        await client.query("UPDATE items SET value = 'changed' WHERE id = 5");
        for (const statement of statements) await client.query(statement);
        const kinds = await catchUp();
        expect(kinds[0]).toBe('keys');
        const { rows } = await client.query('SELECT id, value FROM items');
        expect(copyOf(follower)).toEqual(new Map(rows.map(({ id, value }) => [String(id), value])));
        await client.query("UPDATE items SET value = 'again' WHERE id = 7");
        expect(await catchUp()).toEqual(['changes']);
      });
    }

    testOnce('keys of several columns and of any text are told apart', async () => {
      await dropSlots();
      await client.query(`DROP TABLE IF EXISTS prices; CREATE TABLE prices (
        value text, shop text, day date, amount numeric, code char(3), sold bool, PRIMARY KEY (day, amount, code, sold, shop)
        ) PARTITION BY LIST (shop);
        CREATE TABLE prices_all (amount numeric NOT NULL, shop text NOT NULL, value text, sold bool NOT NULL,
          code char(3) NOT NULL, day date NOT NULL);
        ALTER TABLE prices ATTACH PARTITION prices_all DEFAULT;
        INSERT INTO prices VALUES ('one', 'a/b', '2026-01-02', 1.0, 'x', true), ('two', 'é''"\\', '2026-01-03', 2, 'abc', false)`);
      const source = new PostgresSource(url, {
        table: 'prices',
        columns: ['value'],
        key: ['shop', 'amount', 'day', 'code', 'sold'],
        stream: 'cosift_items',
      });
      const follower = new Follower(source);
      try {
        await follower.pass();
        expect(await source.hasChanged?.(signal)).toBe(true);
        await follower.pass();
        await client.query(
          "UPDATE prices SET amount = 1.00, value = 'equal, and another text' WHERE amount = 1",
        );
        await client.query("UPDATE prices SET shop = '%' WHERE amount = 2");
        expect(await source.hasChanged?.(signal)).toBe(true);
        expect(await follower.pass()).toMatchObject({ kind: 'changes', deleted: 2 });
        expect([...follower.records.keys()].toSorted()).toEqual([
          '%25/2/2026-01-03/abc/false',
          'a%2Fb/1.00/2026-01-02/x/true',
        ]);
        await client.query("UPDATE prices SET value = 'same key'");
        expect(await source.hasChanged?.(signal)).toBe(true);
        expect(await follower.pass()).toMatchObject({ kind: 'changes', read: 2, written: 2, deleted: 0 });
      } finally {
        await source.close();
      }
    });

    testOnce('waits for nobody, and begins when long transactions have ended', async () => {
      await dropSlots();
      await createItems(client, 5);
      const other = new pg.Client(url);
      await other.connect();
      await other.query("BEGIN; UPDATE items SET value = 'open' WHERE id = 1");
      const followers = [new PostgresSource(url, DEFINITION), new PostgresSource(url, DEFINITION)];
      const [early, late] = followers as [PostgresSource, PostgresSource];
      const follower = new Follower(late);
      try {
        await new Follower(early).pass();
        // The server makes no slot while a transaction is open.
        expect(await early.hasChanged?.(signal)).toBe(false);
        await follower.pass();
        await other.query('COMMIT');
        expect(await late.hasChanged?.(signal)).toBe(true);
        expect((await follower.pass())?.kind).toBe('keys');
        expect(copyOf(follower).get('1')).toBe('open');
      } finally {
        await other.end();
        for (const source of followers) await source.close();
      }
    });

    testOnce('a slot that is being made when the source is closed does not stay', async () => {
      await dropSlots();
      await createItems(client, 5);
      const other = new pg.Client(url);
      await other.connect();
      await other.query("BEGIN; UPDATE items SET value = 'open' WHERE id = 1");
      const source = new PostgresSource(url, DEFINITION);
      const end = new AbortController();
      const making = async () => {
        const creates =
          "SELECT FROM pg_stat_activity WHERE query LIKE 'SELECT pg_create_%' AND state = 'active'";
        return (await client.query(creates)).rows.length > 0;
      };
      try {
        await new Follower(source).pass();
        const look = source.hasChanged?.(end.signal);
        while (!(await making()));
        end.abort();
        await other.query('COMMIT');
        await look;
        await source.close();
        while (await making());
        expect((await client.query('SELECT FROM pg_replication_slots')).rows).toEqual([]);
      } finally {
        await other.end();
        await source.close();
      }
    });

    testOnce('an idle transaction that has written delays nothing', async () => {
      await using follows = await followed();
      const { follower, catchUp } = follows;
      const other = new pg.Client(url);
      await other.connect();
      try {
        for (let round = 1; round <= 3; round += 1) {
          await client.query('UPDATE items SET value = $1 WHERE id = 9', [`round ${round}`]);
          await other.query(round === 1 ? 'BEGIN' : 'SELECT 1');
          await other.query("INSERT INTO history (id, value) VALUES (1, 'not committed')");
          expect(await catchUp()).toEqual(['changes']);
          expect(copyOf(follower).get('9')).toBe(`round ${round}`);
        }
      } finally {
        await other.end();
      }
    });

    testOnce('a pass without changes does not make the next one read the table', async () => {
      await using follows = await followed();
      const { follower, catchUp } = follows;
      for (let round = 1; round <= 3; round += 1) {
        await client.query("INSERT INTO history (id, value) VALUES (1, 'of another table')");
        expect(await follower.pass()).toBeUndefined();
        await client.query('UPDATE items SET value = $1 WHERE id = 9', [`round ${round}`]);
        expect(await catchUp()).toEqual(['changes']);
      }
    });

    testOnce('a slot that is made anew while the table is read is not taken for the old one', async () => {
      await using follows = await followed();
      const { source, follower, catchUp } = follows;
      const round = (await source.round(follower.bookmark, true, signal))!;
      for await (const _ of round.batches) {
        await client.query("UPDATE items SET value = 'meanwhile' WHERE id = 7");
        await client.query("SELECT pg_drop_replication_slot('cosift_items')");
        await client.query("SELECT pg_create_logical_replication_slot('cosift_items', 'pgoutput')");
      }
      follower.bookmark = round.bookmark();
      await round.close();
      await catchUp();
      expect(copyOf(follower).get('7')).toBe('meanwhile');
    });

    testOnce('what happens to a partition beside its table is found', async () => {
      await dropSlots();
      await client.query(`DROP TABLE IF EXISTS parted; CREATE TABLE parted (id int PRIMARY KEY, value text) PARTITION BY RANGE (id);
        CREATE TABLE part PARTITION OF parted FOR VALUES FROM (1) TO (100);
        INSERT INTO parted SELECT n, 'first' FROM generate_series(1, 20) AS n`);
      const source = new PostgresSource(url, { ...DEFINITION, table: 'parted' });
      const follower = new Follower(source);
      try {
        await follower.pass();
        await source.hasChanged?.(signal);
        await follower.pass();
        await client.query(`BEGIN; ALTER TABLE parted DETACH PARTITION part; DELETE FROM part WHERE id = 5;
          UPDATE part SET value = 'changed' WHERE id = 6;
          ALTER TABLE parted ATTACH PARTITION part FOR VALUES FROM (1) TO (100); COMMIT`);
        await source.hasChanged?.(signal);
        await follower.pass();
        expect(copyOf(follower).get('6')).toBe('changed');
        expect(follower.records.has('5')).toBe(false);
        await client.query('ALTER TABLE part SET UNLOGGED');
        await expect(follower.pass()).rejects.toThrow('must be logged');
      } finally {
        await source.close();
      }
    });

    const refused = async (definition: TableDefinition, from = url) => {
      const source = new PostgresSource(from, definition);
      try {
        return await source.shape(signal).then(
          () => 'allowed',
          (error: Error) => error.message,
        );
      } finally {
        await source.close();
      }
    };

    testOnce('says what it needs', async () => {
      await createItems(client, 5);
      await client.query('CREATE VIEW seen AS SELECT * FROM items; CREATE ROLE reader LOGIN');
      await client.query('GRANT SELECT ON items TO reader');
      expect(await refused({ ...DEFINITION, table: 'seen', key: ['id'] })).toContain(
        'it is no ordinary table',
      );
      expect(await refused(DEFINITION, url.replace('cosift@', 'reader@'))).toContain('needs REPLICATION');
      await client.query('ALTER TABLE items REPLICA IDENTITY FULL');
      expect(await refused(DEFINITION)).toContain('REPLICA IDENTITY DEFAULT');
      await client.query('ALTER TABLE items REPLICA IDENTITY DEFAULT');
      await client.query('UPDATE items SET value = id; ALTER TABLE items ADD UNIQUE (value)');
      expect(await refused({ ...DEFINITION, key: ['value'] })).toContain('have a primary key');
      expect(await refused(DEFINITION)).toBe('allowed');
      // A publication would keep the application from updates of these tables.
      await client.query('ALTER TABLE items DROP CONSTRAINT items_pkey, ADD PRIMARY KEY (id) DEFERRABLE');
      expect(await refused(DEFINITION)).toContain('not deferrable');
      await client.query(
        'ALTER TABLE items DROP CONSTRAINT items_pkey, ADD PRIMARY KEY (value) INCLUDE (id)',
      );
      await client.query('ALTER TABLE items ADD UNIQUE (id), ALTER id SET NOT NULL');
      expect(await refused({ ...DEFINITION, key: ['id'] })).toContain('have a primary key');
      await client.query('DROP VIEW seen');
    });

    testOnce('a user who may not publish the table is told what its owner can do', async () => {
      await dropSlots();
      await createItems(client, 5);
      await client.query('CREATE ROLE follower LOGIN REPLICATION; GRANT SELECT ON items TO follower');
      const sources = [1, 2].map(() => new PostgresSource(url.replace('cosift@', 'follower@'), DEFINITION));
      const [before, after] = sources as [PostgresSource, PostgresSource];
      const follower = new Follower(before);
      try {
        await follower.pass();
        expect(await before.hasChanged?.(signal)).toBe(true);
        const message = await follower.pass().then(String, (error: Error) => error.message);
        expect(message).toContain('CREATE PUBLICATION cosift_items FOR TABLE public.items WITH');
        expect(before.byScan).toBe(message);
        // It goes on without the log for a while.
        expect(await before.hasChanged?.(signal)).toBe(false);
        await client.query(message.slice(message.indexOf('CREATE PUBLICATION')));
        await new Follower(after).pass();
        expect(await after.hasChanged?.(signal)).toBe(true);
        expect(after.byScan).toBe(undefined);
        await expect(after.forget(signal)).rejects.toThrow(
          'the owner of the publication can: DROP PUBLICATION',
        );
      } finally {
        for (const source of sources) await source.close();
      }
    });

    testOnce('says why it is followed by scan while its log cannot be used', async () => {
      await dropSlots();
      await createItems(client, 5);
      await client.query('CREATE PUBLICATION cosift_items');
      const directory = mkdtempSync(path.join(tmpdir(), 'cosift-stream-'));
      try {
        await using cosift = await open(directory);
        const items = await cosift.createDatabase('items', { embed: { columns: ['none'] } });
        await using sync = await items.sync({ name: 'items', from: url, ...DEFINITION, every: '1h' });
        await sync.inStep();
        const reason = expect.stringContaining('the publication cosift_items must be, and is not');
        await expect.poll(() => sync.status()).toMatchObject({ state: 'failed', reason });
        await sync.reconcile();
        const status = await sync.status();
        expect(status).toMatchObject({ state: 'in_step', byScan: reason });
        const shown = describeSync('items', 'items', status);
        expect(shown.by_scan).toBe(status.byScan);
        expect(statusLine(shown, '')).toMatch(/^items {2}in step .* · by scan: `stream`: the publication/);
      } finally {
        rmSync(directory, { recursive: true });
        await client.query('DROP PUBLICATION cosift_items');
      }
    });

    testOnce('a change is searchable long before the next pass is due', async () => {
      await dropSlots();
      await createItems(client, 50);
      const directory = mkdtempSync(path.join(tmpdir(), 'cosift-stream-'));
      try {
        await using cosift = await open(directory);
        const items = await cosift.createDatabase('items', { embed: { columns: ['value'] } });
        const every = '1h';
        await using sync = await items.sync({ name: 'items', from: url, ...DEFINITION, every });
        await sync.inStep();
        const slots = () => client.query('SELECT FROM pg_replication_slots');
        // It is made after the first pass.
        while ((await slots()).rows.length === 0);
        for (let round = 1; round <= 5; round += 1) {
          await client.query('UPDATE items SET value = $1 WHERE id = 7', [`round ${round}`]);
          while ((await items.get('key:items/7'))?.data.value !== `round ${round}`);
        }
      } finally {
        rmSync(directory, { recursive: true });
      }
    });

    testOnce('is not disturbed by a process that reads all rows without a bookmark', async () => {
      await using follows = await followed();
      const { catchUp } = follows;
      await client.query('DELETE FROM items');
      expect(await catchUp()).toEqual(['changes']);
      const other = new PostgresSource(url, DEFINITION);
      await new Follower(other).pass();
      await other.close();
      await client.query("INSERT INTO items VALUES (1, 'new')");
      expect(await catchUp()).toEqual(['changes']);
    });

    testOnce('leaves no slot where it is no longer asked for, or has another name', async () => {
      await using follows = await followed();
      const slots = async () =>
        (await client.query('SELECT slot_name FROM pg_replication_slots')).rows.map((row) => row.slot_name);
      const goOn = async (definition: TableDefinition) => {
        const source = new PostgresSource(url, definition);
        const follower = new Follower(source);
        follower.bookmark = follows.follower.bookmark;
        try {
          await follower.pass(true);
        } finally {
          await source.close();
        }
      };
      expect(await slots()).toEqual(['cosift_items']);
      await goOn(DEFINITION);
      expect(await slots()).toEqual(['cosift_items']);
      const { stream: _, ...without } = DEFINITION;
      await goOn(without);
      expect(await slots()).toEqual([]);
    });

    testOnce('is forgotten with its slot and its publication', async () => {
      await using follows = await followed();
      await follows.source.forget(signal);
      const left = await client.query(
        'SELECT slot_name FROM pg_replication_slots UNION ALL SELECT pubname FROM pg_publication',
      );
      expect(left.rows).toEqual([]);
    });
  },
);

/** The table was truncated while it was read. */
function retried(error: unknown): undefined {
  if (!isCode(error, 'source_unavailable')) throw error;
}
