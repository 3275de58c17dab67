import { afterAll, beforeAll } from 'vitest';
import type { Backend } from '../../src/backend/backend.js';
import type { DatabaseSettings } from '../../src/schema/index.js';
import type { OpenBackend, OpenedBackend, OpenOptions } from './open-backend.js';
import { TestDatabase } from './test-database.js';

/** The backend that the tests of one `describe` block share. Each test creates its own databases. */
export class SharedBackend {
  /** The databases of all backends, some of which may share a store. */
  static #created = 0;
  #opened: OpenedBackend | undefined;

  /** Opens a backend before the tests of the current `describe` block and closes it after them. */
  static use(open: OpenBackend, options?: OpenOptions): SharedBackend {
    const shared = new SharedBackend();
    beforeAll(async () => {
      shared.#opened = await open(options);
    });
    afterAll(async () => {
      await shared.#opened?.close();
    });
    return shared;
  }

  get opened(): OpenedBackend {
    if (this.#opened === undefined) throw new Error('the backend is open during tests only');
    return this.#opened;
  }

  get backend(): Backend {
    return this.opened.backend;
  }

  /** An id that no test of this file has used. */
  newId(): string {
    SharedBackend.#created += 1;
    return `db-${SharedBackend.#created}`;
  }

  /** Creates a database for one test; by default records bring vectors of two values. */
  async create(settings: DatabaseSettings = { dimensions: 2 }): Promise<TestDatabase> {
    const id = this.newId();
    await this.backend.createDatabase(id, settings);
    return new TestDatabase(this.opened, id);
  }
}
