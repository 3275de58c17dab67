import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NO_SERVER, PostgresServer, type PostgresVersion } from '../../scripts/postgres/server.js';
import { isCode } from '../../src/errors.js';
import type { Bookmark } from '../../src/sync/source.js';
import { PostgresSource } from '../../src/sync/sources/postgres/source.js';
import { inFull } from '../helpers/full.js';
import { Random } from '../helpers/random.js';
import { Follower } from './follower.js';

const VERSIONS: PostgresVersion[] = [16, 18];
const WRITERS = 4;
const TRANSACTIONS = inFull(1_500, 120);

/** Each change of the table, with its transaction: what a snapshot sees of the table follows from it. */
const TABLES = `
  DROP TABLE IF EXISTS items, history;
  CREATE TABLE items (id int PRIMARY KEY, value text NOT NULL);
  CREATE TABLE history (seq bigserial, xid xid8 DEFAULT pg_current_xact_id(), id int, value text);
  CREATE OR REPLACE FUNCTION remember() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF TG_OP = 'TRUNCATE' THEN INSERT INTO history (id) VALUES (NULL); RETURN NULL; END IF;
    IF TG_OP <> 'INSERT' THEN INSERT INTO history (id, value) VALUES (OLD.id, NULL); END IF;
    IF TG_OP <> 'DELETE' THEN INSERT INTO history (id, value) VALUES (NEW.id, NEW.value); END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER rows AFTER INSERT OR UPDATE OR DELETE ON items FOR EACH ROW EXECUTE FUNCTION remember();
  CREATE TRIGGER everything AFTER TRUNCATE ON items FOR EACH STATEMENT EXECUTE FUNCTION remember();`;

const STATE = `
  WITH seen AS (SELECT * FROM history WHERE pg_visible_in_snapshot(xid, $1::pg_snapshot)),
    last AS (SELECT DISTINCT ON (id) id, value FROM seen
      WHERE id IS NOT NULL AND seq > coalesce((SELECT max(seq) FROM seen WHERE id IS NULL), 0) ORDER BY id, seq DESC)
  SELECT id, value FROM last WHERE value IS NOT NULL`;

describe.skipIf(NO_SERVER !== undefined).each(VERSIONS)(
  `a poll of PostgreSQL %i${NO_SERVER ? ` (${NO_SERVER})` : ''}`,
  (version) => {
    let server: PostgresServer;
    let url: string;
    beforeAll(async () => {
      server = await PostgresServer.start(version);
      url = await server.createDatabase();
    });
    afterAll(async () => {
      await server?.stop();
    });

    /** Follows the table while others write it. Returns the passes, and after how many of them the copy was wrong. */
    async function follow(spoil: (bookmark: Bookmark | null) => Bookmark | null, seed: number) {
      const observer = new pg.Client(url);
      await observer.connect();
      await observer.query(TABLES);
      await observer.query("INSERT INTO items SELECT n, 'first' FROM generate_series(1, 50) AS n");
      const source = new PostgresSource(url, { table: 'items', columns: ['value'] });
      const follower = new Follower(source);
      let writing = true;
      const writers = Promise.all(
        Array.from({ length: WRITERS }, (_, at) => write(url, seed * WRITERS + at, TRANSACTIONS / WRITERS)),
      ).finally(() => {
        writing = false;
      });
      const counts = { passes: 0, keyScans: 0, unknown: 0, wrong: 0 };
      try {
        for (let last = false; ; ) {
          last = !writing;
          const pass = await follower.pass().catch(retried);
          if (pass === RETRIED) {
            last = false;
            continue;
          }
          const snapshot = (follower.bookmark as { snapshot: string }).snapshot;
          follower.bookmark = spoil(follower.bookmark);
          counts.passes += Number(pass !== undefined);
          counts.unknown += pass?.unknown ?? 0;
          counts.keyScans += Number(pass?.comparedKeys ?? false);
          const { rows } = await observer.query(STATE, [snapshot]);
          const copy = [...follower.records].map(([key, text]) => [Number(key), JSON.parse(text).data.value]);
          const sorted = (entries: unknown[][]) =>
            JSON.stringify(entries.sort(([a], [b]) => Number(a) - Number(b)));
          counts.wrong += Number(sorted(copy) !== sorted(rows.map(({ id, value }) => [id, value])));
          if (last) break;
        }
        await writers;
      } finally {
        await writers.catch(() => undefined);
        await source.close();
        await observer.end();
      }
      return counts;
    }

    test('has at each moment what the table had, under transactions of all kinds', async () => {
      const { passes, keyScans, unknown, wrong } = await follow((bookmark) => bookmark, version);
      expect({ unknown, wrong }).toEqual({ unknown: 0, wrong: 0 });
      expect(passes).toBeGreaterThan(10);
      expect(keyScans).toBeGreaterThan(2);
    });

    test('would lose rows if it began with the first transaction that had not begun', async () => {
      const late = (bookmark: Bookmark | null) => {
        const [, next] = (bookmark as { snapshot: string }).snapshot.split(':');
        return { ...bookmark, horizon: next };
      };
      expect((await follow(late, version)).wrong).toBeGreaterThan(0);
    });

    test('would lose rows of savepoints if it began with the first open transaction of the list', async () => {
      const listed = (bookmark: Bookmark | null) => {
        const [, next = '', open = ''] = (bookmark as { snapshot: string }).snapshot.split(':');
        // The newest open transaction: savepoints of older ones have later numbers, and are in no list.
        return { ...bookmark, horizon: open.split(',').at(-1) || next };
      };
      expect((await follow(listed, version)).wrong).toBeGreaterThan(0);
    });
  },
);

const RETRIED = Symbol('retried');

/** The table was truncated while it was read in chunks. */
function retried(error: unknown): typeof RETRIED {
  if (isCode(error, 'source_unavailable')) return RETRIED;
  throw error;
}

/** Writes transactions of random changes. */
async function write(url: string, seed: number, transactions: number): Promise<void> {
  const random = new Random(seed);
  const client = new pg.Client(url);
  await client.connect();
  const id = () => 1 + random.below(100);
  const change = async () => {
    const value = `v${1 + random.below(1_000_000)}`;
    const roll = random.below(1_000);
    if (roll < 400) {
      const upsert = 'INSERT INTO items VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET value = $2';
      await client.query(upsert, [id(), value]);
    } else if (roll < 650) await client.query('UPDATE items SET value = $2 WHERE id = $1', [id(), value]);
    else if (roll < 800) await client.query('DELETE FROM items WHERE id = $1', [id()]);
    else if (roll < 990) {
      const move = 'UPDATE items SET id = $2 WHERE id = $1 AND NOT EXISTS (SELECT FROM items WHERE id = $2)';
      await client.query(move, [id(), id()]);
    } else await client.query('TRUNCATE items');
  };
  try {
    for (let done = 0; done < transactions; done += 1) {
      try {
        await client.query('BEGIN');
        for (let changes = 1 + random.below(4); changes > 0; changes -= 1) {
          const isNested = random.chance(40);
          if (isNested) await client.query('SAVEPOINT inner_part');
          await change();
          if (isNested) {
            await client.query(`${random.chance(30) ? 'ROLLBACK TO' : 'RELEASE'} SAVEPOINT inner_part`);
          }
          // Transactions overlap with several polls.
          if (random.chance(30)) await client.query('SELECT pg_sleep($1)', [random.next() / 50]);
        }
        await client.query(random.chance(15) ? 'ROLLBACK' : 'COMMIT');
      } catch (error) {
        if (!(error instanceof pg.DatabaseError)) throw error;
        // A deadlock, or a key that another transaction has taken.
        await client.query('ROLLBACK');
      }
    }
  } finally {
    await client.end();
  }
}
