import { withoutPassword } from '../../config/parsers.js';
import { openPostgres } from '../../databases/index.js';
import { sameHash } from '../../server/keys/key-format.js';
import { PostgresKeyStorage } from '../../server/keys/postgres-key-storage.js';
import { PostgresWebhookStore } from '../../server/webhooks/postgres-webhook-store.js';
import { NodePostgres, ServiceTables } from '../../store/postgres/index.js';
import { type Endpoint, LIMITS_OF_MIGRATION } from './endpoint.js';

/** Opens a PostgreSQL database. Services that use it go on. */
export async function openPostgresEndpoint(url: string): Promise<Endpoint> {
  const tables = await ServiceTables.open(new NodePostgres({ url, maxConnections: 2 }));
  const store = await openPostgres({ url }, LIMITS_OF_MIGRATION);
  const keys = new PostgresKeyStorage(tables);
  const webhooks = new PostgresWebhookStore(tables);
  return {
    name: withoutPassword(url),
    store,
    support: store,
    keys,
    webhooks: () => webhooks.list(),
    addWebhooks: async (added) => {
      const known = new Set((await webhooks.list()).map(({ webhook_id }) => webhook_id));
      for (const webhook of added) if (!known.has(webhook.webhook_id)) await webhooks.add(webhook);
    },
    adminHash: async () => undefined,
    setAdminHash: async (hash) => sameHash(await keys.adminHash(hash), hash),
    unfinished: () => unfinishedOf(tables),
    setUnfinished: (databases) => setUnfinished(tables, databases),
    close: async () => {
      // Its leases go to the services.
      await webhooks.close();
      await store.close();
      await tables.close();
    },
  };
}

/** The row that names the databases that a migration is filling. */
const UNFINISHED = 'migration';

async function unfinishedOf({ database }: ServiceTables): Promise<string[]> {
  const [row] = await database.read((sql) =>
    sql.run<{ content: string }>('SELECT content FROM cosift.service_state WHERE name = $1::text', [
      UNFINISHED,
    ]),
  );
  return JSON.parse(row?.content ?? '[]') as string[];
}

async function setUnfinished({ database }: ServiceTables, databases: readonly string[]): Promise<void> {
  await database.write((sql) =>
    sql.run(
      `INSERT INTO cosift.service_state (name, version, content) VALUES ($1::text, 0, $2::text)
      ON CONFLICT (name) DO UPDATE SET content = excluded.content`,
      [UNFINISHED, JSON.stringify(databases)],
    ),
  );
}
