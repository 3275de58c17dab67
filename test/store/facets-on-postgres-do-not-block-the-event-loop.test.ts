import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NO_SERVER, PostgresServer } from '../../scripts/postgres/server.js';
import { LIMITS } from '../../src/schema/index.js';
import { unwrap } from '../../src/store/local/unwrap.js';
import { Catalog } from '../../src/store/postgres/catalog.js';
import { countMatches } from '../../src/store/postgres/counts.js';
import { NodePostgres, PostgresStore } from '../../src/store/postgres/index.js';
import { Servers } from '../../src/store/postgres/servers.js';
import { recordsOf } from '../../src/store/postgres/tables.js';
import type { StoreQueryRequest } from '../../src/store/record-store.js';
import { inFull } from '../helpers/full.js';
import { turnShare } from '../server/longest-turn.js';

const RECORDS = inFull(40_000, 5_000);

describe.skipIf(NO_SERVER)(NO_SERVER ?? 'beside facets of many or long texts', () => {
  let server: PostgresServer;
  let database: NodePostgres;
  let catalog: Catalog;

  beforeAll(async () => {
    server = await PostgresServer.start();
    database = new NodePostgres({ url: await server.createDatabase() });
    catalog = new Catalog(LIMITS, new Servers(database, undefined));
    const store = new PostgresStore(database, LIMITS);
    await store.load();
    await store.createDatabase('db', { model: null, fingerprint: null, dimensions: 2 });
    await database.write(async (sql) => {
      const table = recordsOf(await catalog.find(sql, 'db'));
      await sql.run(
        `INSERT INTO ${table} (id, version, uuid, data, hash, created, changed, synced, cells)
        SELECT n, 1, gen_random_uuid(), '{}', '', 0, 0, 0, jsonb_build_object('short', 'text ' || n,
          'long', CASE WHEN n <= 40 THEN repeat(n::text, 200000) END)
        FROM generate_series(1, ${RECORDS}) AS n`,
      );
    });
  });
  afterAll(async () => {
    await database.close();
    await server.stop();
  });

  test.each([
    ['short', 12],
    ['long', 4],
  ])('the event loop turns: %s texts, %i counts at once', async (column, atOnce) => {
    const facets: NonNullable<StoreQueryRequest['facets']> = [{ column, limit: 1 }];
    const request = { form: 'integer', limit: 1, facets } as const;
    const count = () =>
      database.read(async (sql) => {
        const entry = await catalog.find(sql, 'db');
        const counter = unwrap(catalog.rulesOf(entry).query(JSON.stringify(request))).facets();
        const matches = { sql, table: recordsOf(entry), where: () => [], facets: { facets, counter } };
        const total = await countMatches(matches);
        unwrap(counter.finish());
        return total;
      });
    await count();
    const share = await turnShare(async () => {
      const counts = await Promise.all(Array.from({ length: atOnce }, count));
      expect(counts).toEqual(Array(atOnce).fill(RECORDS));
    });
    expect(share).toBeLessThanOrEqual(1);
  });
});
