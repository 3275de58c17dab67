import pg from 'pg';
import type { Random } from '../helpers/random.js';

/** Each change of the table, with its transaction: what a snapshot sees of the table follows from it. */
const TABLES = `
  DROP TABLE IF EXISTS items, history;
  CREATE TABLE items (id int PRIMARY KEY, value text NOT NULL);
  CREATE TABLE history (seq bigserial, xid xid8 DEFAULT pg_current_xact_id(), id int, value text,
    server timestamptz DEFAULT pg_postmaster_start_time());
  CREATE OR REPLACE FUNCTION remember() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF TG_OP = 'TRUNCATE' THEN INSERT INTO history (id) VALUES (NULL); RETURN NULL; END IF;
    IF TG_OP <> 'INSERT' THEN INSERT INTO history (id, value) VALUES (OLD.id, NULL); END IF;
    IF TG_OP <> 'DELETE' THEN INSERT INTO history (id, value) VALUES (NEW.id, NEW.value); END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER rows AFTER INSERT OR UPDATE OR DELETE ON items FOR EACH ROW EXECUTE FUNCTION remember();
  CREATE TRIGGER everything AFTER TRUNCATE ON items FOR EACH STATEMENT EXECUTE FUNCTION remember();`;

/** A server that was killed gives numbers of transactions again that it has lost: those of a later server are not seen. */
const STATE = `
  WITH seen AS (SELECT * FROM history WHERE pg_visible_in_snapshot(xid, $1::pg_snapshot) AND server <= $2),
    last AS (SELECT DISTINCT ON (id) id, value FROM seen
      WHERE id IS NOT NULL AND seq > coalesce((SELECT max(seq) FROM seen WHERE id IS NULL), 0) ORDER BY id, seq DESC)
  SELECT id, value FROM last WHERE value IS NOT NULL`;

/** Creates the table `items` with rows, anew. */
export async function createItems(client: pg.Client, rows: number): Promise<void> {
  await client.query(TABLES);
  await client.query("INSERT INTO items SELECT n, 'first' FROM generate_series(1, $1::int) AS n", [rows]);
}

/** The values by id that a snapshot saw, which was taken at `moment` or later, and before the next start of the server. */
export async function itemsIn(
  client: pg.Client,
  snapshot: string,
  moment = new Date(),
): Promise<Map<string, string>> {
  const { rows } = await client.query(STATE, [snapshot, moment]);
  return new Map(rows.map(({ id, value }) => [String(id), value]));
}

/** How two contents differ: records with another value, without a row, and rows without a record. */
export function differences(records: ReadonlyMap<string, string>, rows: ReadonlyMap<string, string>) {
  const found = { wrong: 0, missing: 0, extra: 0 };
  for (const [id, value] of records) {
    if (!rows.has(id)) found.extra += 1;
    else if (rows.get(id) !== value) found.wrong += 1;
  }
  for (const id of rows.keys()) if (!records.has(id)) found.missing += 1;
  return found;
}

export interface Writing {
  random: Random;
  /** Changed rows have ids up to this one. */
  ids: number;
  /** Of 10,000 changes, how many truncate the table; as many insert `refill` rows. */
  truncations: number;
  refill: number;
  /** Whether to begin another transaction. */
  goesOn: () => boolean;
  /** Called when a transaction is committed, with its number. */
  onCommit?: (xid: string) => void;
}

/** Writes transactions of random changes: with savepoints, rollbacks, changes of keys, deletions and truncations. */
export async function write(url: string, writing: Writing): Promise<void> {
  const { random, ids, truncations, refill, goesOn, onCommit } = writing;
  const client = new pg.Client(url);
  client.on('error', () => undefined);
  await client.connect();
  const id = () => 1 + random.below(ids);
  const fill =
    "INSERT INTO items SELECT n, 'again' FROM generate_series(1, $1::int) AS n ON CONFLICT DO NOTHING";
  const change = async () => {
    const value = `v${1 + random.below(1_000_000)}`;
    const roll = random.below(10_000);
    if (roll < truncations) {
      await client.query('TRUNCATE items');
      if (random.chance(50)) await client.query(fill, [refill]);
    } else if (roll < 2 * truncations) await client.query(fill, [refill]);
    else if (roll < 4_000) {
      const upsert = 'INSERT INTO items VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET value = $2';
      await client.query(upsert, [id(), value]);
    } else if (roll < 6_500) await client.query('UPDATE items SET value = $2 WHERE id = $1', [id(), value]);
    else if (roll < 8_000) await client.query('DELETE FROM items WHERE id = $1', [id()]);
    else {
      const move = 'UPDATE items SET id = $2 WHERE id = $1 AND NOT EXISTS (SELECT FROM items WHERE id = $2)';
      await client.query(move, [id(), id()]);
    }
  };
  try {
    while (goesOn()) {
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
        const { rows } = await client.query('SELECT pg_current_xact_id_if_assigned()::text AS xid');
        const isKept = !random.chance(15);
        await client.query(isKept ? 'COMMIT' : 'ROLLBACK');
        if (isKept && rows[0].xid !== null) onCommit?.(rows[0].xid);
      } catch (error) {
        // A deadlock, or a key that another transaction has taken.
        if (!(error instanceof pg.DatabaseError) || !/^(40|23)/.test(error.code ?? '')) throw error;
        await client.query('ROLLBACK');
      }
    }
  } finally {
    await client.end().catch(() => undefined);
  }
}
