import type { AdoptedFeed } from '../migration-support.js';
import type { Catalog } from './catalog.js';
import type { Servers } from './servers.js';
import { arrayOf } from './sql.js';
import { changesOf } from './tables.js';
import { CHANGE_KINDS } from './writer.js';

/** Changes of one statement. */
const BATCH = 2_000;

/** Replaces the change feed of a database by that of another store. */
export async function adoptFeed(
  servers: Servers,
  catalog: Catalog,
  id: string,
  { epoch, position, changes, times, nextId }: AdoptedFeed,
): Promise<void> {
  await servers.of(id).write(async (sql) => {
    const entry = await catalog.lock(sql, id);
    const table = changesOf(entry);
    await sql.run(`DELETE FROM ${table}`);
    for (let at = 0; at < changes.length; at += BATCH) {
      const batch = changes.slice(at, at + BATCH);
      await sql.run(
        `INSERT INTO ${table} (position, kind, id, uuid, key, at, written, before)
        SELECT t.position, kind, t.id, uuid, key, at, $7::bigint, NULL
        FROM unnest($1::bigint[], $2::smallint[], $3::bigint[], $4::uuid[], $5::bytea[], $6::bigint[])
          AS t (position, kind, id, uuid, key, at)
          CROSS JOIN ${entry.group.databases} AS d WHERE d.id = $8::text`,
        [
          arrayOf(batch.map((change) => change.position)),
          arrayOf(batch.map((change) => CHANGE_KINDS.indexOf(change.kind))),
          arrayOf(batch.map((change) => change.id)),
          arrayOf(batch.map((change) => change.uuid)),
          arrayOf(batch.map(({ key }) => (key === undefined ? null : Buffer.from(key, 'utf8')))),
          arrayOf(batch.map((change) => Date.parse(change.at))),
          entry.now,
          id,
        ],
      );
    }
    const removed = (changes[0]?.position ?? position + 1) - 1;
    await sql.run(
      `UPDATE ${entry.group.databases} SET epoch = $2::text, position = $3::bigint, removed = $4::bigint,
        adopted = $3::bigint, next_id = $5::bigint, created_at = $6::bigint, last_write_at = $7::bigint
      WHERE id = $1::text`,
      [id, epoch, position, removed, nextId, Date.parse(times.created_at), Date.parse(times.last_write_at)],
    );
  });
}
