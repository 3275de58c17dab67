import { randomUUID } from 'node:crypto';
import type { Reembedding } from '../../schema/index.js';
import type { ReembeddingLeases, SharedReembedding } from '../reembedding-store.js';
import { limitedDatabase } from './limited-database.js';
import { ServiceTables } from './service-tables.js';
import type { SqlDatabase } from './sql.js';

/** How long a process that does not renew its lease keeps it. */
const LEASE_MS = 6_000;
const LEASE = `${LEASE_MS} milliseconds`;

interface Row {
  database: string;
  state: string;
  is_held: boolean;
  is_own: boolean;
}

/** Which process does the re-embedding of each database, and how far it is. */
export class PostgresReembeddingLeases implements ReembeddingLeases {
  readonly #database: SqlDatabase;
  /** Names this process in the leases. */
  readonly #owner = randomUUID();

  constructor(database: SqlDatabase) {
    // A lease that is not renewed in its time is lost anyway.
    this.#database = limitedDatabase(database, LEASE_MS);
  }

  async all(): Promise<SharedReembedding[]> {
    const rows = await this.#database.read((sql) =>
      sql.run<Row>(
        `SELECT database, state, coalesce(leased_until > clock_timestamp(), false) AS is_held,
          coalesce(owner = $1::text, false) AS is_own
        FROM cosift.reembedding_jobs`,
        [this.#owner],
      ),
    );
    return rows.map(({ database, state, is_held, is_own }) => ({
      database,
      state: JSON.parse(state) as Reembedding,
      isElsewhere: is_held && !is_own,
    }));
  }

  async take(database: string, state: Reembedding): Promise<boolean> {
    const taken = await this.#database.write(async (sql) => {
      const rows = await sql.run(
        `INSERT INTO cosift.reembedding_jobs AS j (database, state, owner, leased_until)
        VALUES ($1::text, $2::text, $3::text, clock_timestamp() + $4::text::interval)
        ON CONFLICT (database) DO UPDATE
          SET state = excluded.state, owner = excluded.owner, leased_until = excluded.leased_until
          WHERE j.owner IS NULL OR j.owner = $3::text OR j.leased_until < clock_timestamp()
        RETURNING database`,
        [database, JSON.stringify(state), this.#owner, LEASE],
      );
      await ServiceTables.announce(sql, 'reembeddings');
      return rows;
    });
    return taken.length > 0;
  }

  async renew(database: string, state: Reembedding): Promise<boolean> {
    const renewed = await this.#database.write((sql) =>
      sql.run(
        `UPDATE cosift.reembedding_jobs
        SET state = $2::text, leased_until = clock_timestamp() + $4::text::interval
        WHERE database = $1::text AND owner = $3::text RETURNING database`,
        [database, JSON.stringify(state), this.#owner, LEASE],
      ),
    );
    return renewed.length > 0;
  }

  async release(database: string, state: Reembedding): Promise<void> {
    await this.#database.write((sql) =>
      sql.run(
        `UPDATE cosift.reembedding_jobs SET state = $2::text, owner = NULL, leased_until = NULL
        WHERE database = $1::text AND owner = $3::text`,
        [database, JSON.stringify(state), this.#owner],
      ),
    );
  }

  async remove(database: string): Promise<void> {
    await this.#database.write((sql) =>
      sql.run('DELETE FROM cosift.reembedding_jobs WHERE database = $1::text', [database]),
    );
  }
}
