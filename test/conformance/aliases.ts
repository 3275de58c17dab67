import { describe, expect, test } from 'vitest';
import type { OpenDatabases } from './open-databases.js';
import { SharedDatabases } from './shared-databases.js';

/** Aliases, which are further names of databases. */
export function describeAliases(open: OpenDatabases): void {
  describe('an alias', () => {
    const shared = SharedDatabases.use(open);
    const conflict = { code: 'alias_conflict', status: 409 };
    const two = async () => [await shared.create(), await shared.create()] as const;

    test('names a database, and another one after a switch, also after a restart', async () => {
      const [first, second] = await two();
      const name = shared.newId();
      const { aliases } = shared.databases;
      expect(await aliases.resolve(name)).toBe(name);
      expect(await aliases.set({ name, database: first.id })).toEqual({ created: true });
      expect(await aliases.resolve(name)).toBe(first.id);
      expect(await aliases.set({ name, database: second.id })).toEqual({ created: false });
      expect(await aliases.resolve(name)).toBe(second.id);
      expect(await aliases.list()).toContainEqual({ name, database: second.id });
      await shared.opened.reopen();
      expect(await shared.databases.aliases.resolve(name)).toBe(second.id);
      await shared.databases.aliases.delete(name);
      expect(await shared.databases.aliases.resolve(name)).toBe(name);
      await expect(shared.databases.aliases.delete(name)).rejects.toMatchObject({ code: 'alias_not_found' });
      await shared.opened.reopen();
      expect(await shared.databases.aliases.list()).not.toContainEqual(expect.objectContaining({ name }));
    });

    test('and a database do not have the same name', async () => {
      const [first, second] = await two();
      const name = shared.newId();
      const { aliases, catalog } = shared.databases;
      await expect(aliases.set({ name: first.id, database: second.id })).rejects.toMatchObject(conflict);
      await expect(aliases.set({ name: first.id, database: first.id })).rejects.toMatchObject(conflict);
      await expect(aliases.set({ name, database: shared.newId() })).rejects.toMatchObject({
        code: 'database_not_found',
      });
      await aliases.set({ name, database: first.id });
      await expect(aliases.set({ name: shared.newId(), database: name })).rejects.toMatchObject({
        code: 'database_not_found',
      });
      await expect(catalog.create(name, { dimensions: 2 })).rejects.toMatchObject(conflict);
      await aliases.delete(name);
      expect(await catalog.create(name, { dimensions: 2 })).toMatchObject({ created: true });
    });

    test('keeps its database from being dropped', async () => {
      const [first, second] = await two();
      const name = shared.newId();
      const { aliases, catalog } = shared.databases;
      await aliases.set({ name, database: first.id });
      await expect(catalog.drop(first.id)).rejects.toMatchObject({
        ...conflict,
        detail: `the alias "${name}" names database "${first.id}": delete the alias, or let it name another database`,
      });
      expect(await first.count()).toBe(0);
      await aliases.set({ name, database: second.id });
      await catalog.drop(first.id);
      // Its name is free now.
      expect(await aliases.set({ name: first.id, database: second.id })).toEqual({ created: true });
      expect(await aliases.resolve(first.id)).toBe(second.id);
    });

    test('and a database of one name are not made at the same time', async () => {
      const database = await shared.create();
      const { aliases, catalog } = shared.databases;
      for (let round = 0; round < 5; round += 1) {
        const name = shared.newId();
        const made = await Promise.allSettled([
          catalog.create(name, { dimensions: 2 }),
          aliases.set({ name, database: database.id }),
        ]);
        expect(made.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      }
    });

    test('and the removal of its database exclude each other', async () => {
      const { aliases, catalog } = shared.databases;
      for (let round = 0; round < 5; round += 1) {
        const [name, database] = [shared.newId(), await shared.create()];
        const done = await Promise.allSettled([
          catalog.drop(database.id),
          aliases.set({ name, database: database.id }),
        ]);
        expect(done.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      }
    });
  });
}
