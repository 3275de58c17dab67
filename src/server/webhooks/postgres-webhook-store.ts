import { randomUUID } from 'node:crypto';
import { ServiceTables, type Sql, type SqlDatabase } from '../../store/postgres/index.js';
import type { StoredWebhook } from './stored-webhook.js';
import { checkCapacity } from './webhook-capacity.js';
import type { Sharing, WebhookStore } from './webhook-store.js';

const LEASE_MS = 6_000;
const RENEW_MS = 1_500;

/** The lock under which webhooks are added: an arbitrary number that no other program uses. */
const ADDING_LOCK = 7_204_113_902;

/** The webhooks in a PostgreSQL database. Each is delivered by the process that has its lease. */
export class PostgresWebhookStore implements WebhookStore {
  readonly #database: SqlDatabase;
  /** Names this process in the leases. */
  readonly #owner = randomUUID();
  readonly sharing: Sharing;

  constructor(tables: ServiceTables) {
    this.#database = tables.database;
    const watch = (onChange: () => void) => tables.onChange('webhooks', onChange);
    this.sharing = { leaseMs: LEASE_MS, renewMs: RENEW_MS, watch };
  }

  async list(): Promise<StoredWebhook[]> {
    return await this.#database.read((sql) => listed(sql));
  }

  async find(webhookId: string): Promise<StoredWebhook | undefined> {
    const [row] = await this.#database.read((sql) =>
      sql.run<Row>('SELECT stored FROM cosift.webhooks WHERE webhook_id = $1::text', [webhookId]),
    );
    return row && storedOf(row);
  }

  async add(webhook: StoredWebhook): Promise<void> {
    await this.#database.write(async (sql) => {
      await sql.run('SELECT pg_advisory_xact_lock($1::bigint)', [ADDING_LOCK]);
      checkCapacity(await listed(sql), webhook);
      const { webhook_id, database } = webhook;
      await sql.run(
        `INSERT INTO cosift.webhooks (webhook_id, database, stored, owner, leased_until)
        VALUES ($1::text, $2::text, $3::text, $4::text, clock_timestamp() + $5::text::interval)`,
        [webhook_id, database, JSON.stringify(webhook), this.#owner, LEASE],
      );
      await ServiceTables.announce(sql, 'webhooks');
    });
  }

  async update(webhook: StoredWebhook): Promise<boolean> {
    const updated = await this.#database.write((sql) =>
      sql.run(
        `UPDATE cosift.webhooks SET stored = $2::text WHERE webhook_id = $1::text AND owner = $3::text
        RETURNING webhook_id`,
        [webhook.webhook_id, JSON.stringify(webhook), this.#owner],
      ),
    );
    return updated.length > 0;
  }

  async remove(webhookIds: readonly string[]): Promise<void> {
    await this.#database.write(async (sql) => {
      for (const id of webhookIds) {
        await sql.run('DELETE FROM cosift.webhooks WHERE webhook_id = $1::text', [id]);
      }
      await ServiceTables.announce(sql, 'webhooks');
    });
  }

  async lease(): Promise<StoredWebhook[]> {
    const rows = await this.#database.write((sql) =>
      sql.run<Row>(
        `UPDATE cosift.webhooks SET owner = $1::text, leased_until = clock_timestamp() + $2::text::interval
        WHERE owner = $1::text OR owner IS NULL OR leased_until < clock_timestamp()
        RETURNING stored`,
        [this.#owner, LEASE],
      ),
    );
    return rows.map(storedOf);
  }

  async close(): Promise<void> {
    await this.#database.write(async (sql) => {
      const left = await sql.run(
        `UPDATE cosift.webhooks SET owner = NULL, leased_until = NULL WHERE owner = $1::text
        RETURNING webhook_id`,
        [this.#owner],
      );
      if (left.length > 0) await ServiceTables.announce(sql, 'webhooks');
    });
  }
}

const LEASE = `${LEASE_MS} milliseconds`;

interface Row {
  stored: string;
}

async function listed(sql: Sql): Promise<StoredWebhook[]> {
  return (await sql.run<Row>('SELECT stored FROM cosift.webhooks ORDER BY place')).map(storedOf);
}

function storedOf({ stored }: Row): StoredWebhook {
  return JSON.parse(stored) as StoredWebhook;
}
