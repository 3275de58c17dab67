import { CosiftError } from '../../errors.js';
import type { SqlDatabase } from '../../store/postgres/index.js';
import { ServiceTables } from '../../store/postgres/index.js';
import type { StoredKey } from './key-entry.js';
import { checkStored } from './key-file.js';
import type { KeyStorage } from './key-store.js';

/** How long keys are valid without asking the database again, in case that a message was lost. */
const MAX_AGE_MS = 1_000;

const ADMIN_ROW = 'admin';
const KEYS_ROW = 'keys';

interface Reading {
  version: number;
  keys: readonly StoredKey[];
  /** When the reading began, in milliseconds of `performance.now()`. */
  at: number;
}

/** The keys in a PostgreSQL database. */
export class PostgresKeyStorage implements KeyStorage {
  readonly #database: SqlDatabase;
  #last: Reading | undefined;
  #reading: Promise<readonly StoredKey[]> | undefined;
  /** Counts what says that the last reading may be out of date. */
  #changes = 0;

  constructor(tables: ServiceTables) {
    this.#database = tables.database;
    tables.onChange('keys', () => this.#forget());
  }

  async read(): Promise<readonly StoredKey[]> {
    if (this.#last !== undefined && performance.now() - this.#last.at < MAX_AGE_MS) return this.#last.keys;
    this.#reading ??= this.#refresh().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async change(change: (keys: StoredKey[]) => StoredKey[]): Promise<void> {
    await this.#database.write(async (sql) => {
      await sql.run(
        `INSERT INTO cosift.service_state (name, version, content) VALUES ($1::text, 0, '[]')
        ON CONFLICT (name) DO NOTHING`,
        [KEYS_ROW],
      );
      const [row] = await sql.run<{ content: string }>(
        'SELECT content FROM cosift.service_state WHERE name = $1::text FOR UPDATE',
        [KEYS_ROW],
      );
      const keys = change(keysOf(row?.content));
      await sql.run(
        'UPDATE cosift.service_state SET version = version + 1, content = $2::text WHERE name = $1::text',
        [KEYS_ROW, JSON.stringify(keys)],
      );
      await ServiceTables.announce(sql, 'keys');
    });
    this.#forget();
  }

  /**
   * Makes `proposed` the hash of the admin key of all services of the database, unless they have one. Returns the hash
   * that they have.
   */
  async adminHash(proposed: Buffer): Promise<Buffer> {
    return await this.#database.write(async (sql) => {
      await sql.run(
        `INSERT INTO cosift.service_state (name, version, content) VALUES ($1::text, 0, $2::text)
        ON CONFLICT (name) DO NOTHING`,
        [ADMIN_ROW, proposed.toString('hex')],
      );
      const text = 'SELECT content FROM cosift.service_state WHERE name = $1::text';
      const [row] = await sql.run<{ content: string }>(text, [ADMIN_ROW]);
      return Buffer.from(row?.content ?? '', 'hex');
    });
  }

  #forget(): void {
    this.#changes += 1;
    if (this.#last !== undefined) this.#last.at = Number.NEGATIVE_INFINITY;
  }

  async #refresh(): Promise<readonly StoredKey[]> {
    for (;;) {
      const [at, changes] = [performance.now(), this.#changes];
      const { version, keys } = await this.#database.read(async (sql) => {
        const text = 'SELECT version FROM cosift.service_state WHERE name = $1::text';
        const [row] = await sql.run<{ version: number }>(text, [KEYS_ROW]);
        const version = row?.version ?? -1;
        // The same array, so that callers notice that nothing changed.
        if (this.#last?.version === version) return this.#last;
        const [content] = await sql.run<{ content: string }>(
          'SELECT content FROM cosift.service_state WHERE name = $1::text',
          [KEYS_ROW],
        );
        return { version, keys: keysOf(content?.content) };
      });
      this.#last = { version, keys, at };
      // A change during the reading may be missing in it.
      if (changes === this.#changes) return keys;
    }
  }
}

/** @throws {CosiftError} `damaged` when the content was changed by another program. */
function keysOf(content: string | undefined): StoredKey[] {
  try {
    return (JSON.parse(content ?? '[]') as unknown[]).map(checkStored);
  } catch (cause) {
    throw new CosiftError('damaged', 'the keys in cosift.service_state were changed by another program', {
      cause,
    });
  }
}
