import { describe, expect, test } from 'vitest';
import { bothSides } from './both-sides.js';

const sides = bothSides();

describe.each(['library', 'client'])('%s', (side) => {
  test('a database is configured, and says what is wrong with a change', async () => {
    const databases = sides.get(side)!;
    const database = await databases.createDatabase('configured', {
      dimensions: 2,
      defaults: { threshold: 0.9 },
    });
    await database.upsert([1, 2, 3].map((id) => ({ id, data: { id }, vector: [1, id] })));
    expect((await database.search({ vector: [1, 0] })).results).toEqual([]);
    const described = await database.configure({ defaults: { threshold: null, limit: 2 }, lexical: true });
    expect(described).toMatchObject({ id: 'configured', defaults: { limit: 2 }, lexical: true });
    expect(await database.describe()).toMatchObject({ defaults: { limit: 2 }, lexical: true });
    expect((await database.search({ vector: [1, 0] })).results).toHaveLength(2);
    expect((await database.query()).results).toHaveLength(2);
    const all = [];
    for await (const { id } of database.queryAll()) all.push(id);
    expect(all).toHaveLength(3);

    for (const [changes, pointer] of [
      [{ defaults: { threshold: 2 } }, '/defaults/threshold'],
      [{ defaults: { limit: '3' } }, '/defaults/limit'],
      [{ defaults: { offset: 3 } }, '/defaults/offset'],
      [{ lexical: 'yes' }, '/lexical'],
      [{ lexical: { columns: { id: 0 } } }, '/lexical/columns/id'],
      [{ lexical: { columns: { id: 1.5 } } }, '/lexical/columns/id'],
      [{ lexical: { columns: { id: 1 }, weights: {} } }, '/lexical/weights'],
      [{ lexical: false, defaults: { lexical: 0.5 } }, '/defaults/lexical'],
      [{ formats: { price: '0' } }, '/formats/price'],
      [{ dimensions: 3 }, '/dimensions'],
      [[], ''],
    ] as const) {
      await expect(database.configure(changes as never), pointer).rejects.toMatchObject({
        code: 'invalid_request',
        problems: [{ pointer }],
      });
    }
    const lexical = { columns: { name: 3, id: 1 } };
    expect((await database.configure({ lexical })).lexical).toEqual(lexical);
    const changed = await database.configure({ lexical: { columns: { name: null, id: 2 } } });
    expect(changed.lexical).toEqual({ columns: { id: 2 } });
    const found = await database.search({ vector: [1, 0], text: '3' }, { lexical: 1, threshold: 0.5 });
    expect(found.results.map(({ id }) => id)).toEqual([3]);
    await expect(databases.database('none').configure({})).rejects.toMatchObject({
      code: 'database_not_found',
    });
  });
});
