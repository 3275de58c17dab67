import { limitedDatabase } from './limited-database.js';
import { migrate } from './schema.js';
import type { Sql, SqlDatabase } from './sql.js';

/** The channel that names what the services of a database changed. */
const CHANNEL = 'cosift_service';

/** Milliseconds that a transaction may take: requests wait for keys, and a close for the leases of webhooks. */
const LIMIT_MS = 10_000;

/** What the services that share a database keep in it, besides records. */
export type ServiceTopic = 'keys' | 'webhooks' | 'reembeddings';

/** The tables of what services keep, and the messages about their changes. */
export class ServiceTables {
  readonly database: SqlDatabase;
  readonly #listeners: { topic: ServiceTopic; onChange: () => void }[] = [];

  private constructor(database: SqlDatabase) {
    this.database = database;
    database.listen(CHANNEL, (changed) => {
      for (const { topic, onChange } of this.#listeners) {
        // Without a topic, messages may have been missed.
        if (changed === undefined || changed === topic) onChange();
      }
    });
  }

  /** Creates the tables where they are missing. */
  static async open(database: SqlDatabase): Promise<ServiceTables> {
    await migrate(database);
    return new ServiceTables(limitedDatabase(database, LIMIT_MS));
  }

  /** Calls `onChange` after a process changed the topic, and when messages may have been missed. */
  onChange(topic: ServiceTopic, onChange: () => void): void {
    this.#listeners.push({ topic, onChange });
  }

  /** Tells all processes of a change when the transaction of `sql` commits. */
  static async announce(sql: Sql, topic: ServiceTopic): Promise<void> {
    await sql.run('SELECT pg_notify($1::text, $2::text)', [CHANNEL, topic]);
  }

  close(): Promise<void> {
    return this.database.close();
  }
}
