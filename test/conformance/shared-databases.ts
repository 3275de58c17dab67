import { afterAll, beforeAll } from 'vitest';
import type { DatabaseService } from '../../src/databases/index.js';
import type { DatabaseSettings } from '../../src/schema/index.js';
import type { OpenDatabases, OpenedDatabases, OpenOptions } from './open-databases.js';
import { TestDatabase } from './test-database.js';

/** The service that the tests of one `describe` block share. Each test creates its own databases. */
export class SharedDatabases {
  /** The databases of all services, some of which may share a store. */
  static #created = 0;
  #opened: OpenedDatabases | undefined;

  /** Opens a service before the tests of the current `describe` block and closes it after them. */
  static use(open: OpenDatabases, options?: OpenOptions): SharedDatabases {
    const shared = new SharedDatabases();
    beforeAll(async () => {
      shared.#opened = await open(options);
    });
    afterAll(async () => {
      await shared.#opened?.close();
    });
    return shared;
  }

  get opened(): OpenedDatabases {
    if (this.#opened === undefined) throw new Error('the service is open during tests only');
    return this.#opened;
  }

  get databases(): DatabaseService {
    return this.opened.databases;
  }

  /** An id that no test of this file has used. */
  newId(): string {
    SharedDatabases.#created += 1;
    return `db-${SharedDatabases.#created}`;
  }

  /** Creates a database for one test; by default records bring vectors of two values. */
  async create(settings: DatabaseSettings = { dimensions: 2 }): Promise<TestDatabase> {
    const id = this.newId();
    await this.databases.catalog.create(id, settings);
    return new TestDatabase(this.opened, id);
  }
}
