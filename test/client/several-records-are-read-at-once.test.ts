import { describe, expect, test } from 'vitest';
import type { Databases } from '../../src/api/index.js';
import { fan } from '../server/service.js';
import { bothSides } from './both-sides.js';

const sides = bothSides();

describe.each(['library', 'client'])('%s', (side) => {
  test('reads records in the order of their ids', async () => {
    const database = await (sides.get(side) as Databases).createDatabase('fans', { dimensions: 2 });
    await database.upsert([...fan(700), { id: 1_000, key: 'a/b', data: {}, vector: [1, 0] }]);
    const seventh = await database.get(7);
    const found = await database.getMany([7, 9_999, 'key:a/b', seventh?.uuid ?? '', 7], { vectors: true });
    expect(found.map((record) => record?.id)).toEqual([7, undefined, 1_000, 7, 7]);
    expect(found[2]?.vector).toEqual([1, 0]);
    expect(found[0]).toEqual(await database.get(7, { vectors: true }));
    const all = Array.from({ length: 700 }, (_, at) => at + 1);
    expect((await database.getMany(all)).map((record) => record?.id)).toEqual(all);
    expect(await database.getMany([])).toEqual([]);
  });

  test('names the id that is none', async () => {
    const database = (sides.get(side) as Databases).database('fans');
    await expect(database.getMany([1, 1.5])).rejects.toMatchObject({
      code: 'invalid_request',
      problems: [{ pointer: '/id', code: 'invalid_value' }],
    });
    await expect(database.getMany('7' as never)).rejects.toMatchObject({
      problems: [{ pointer: '/ids', code: 'invalid_value' }],
    });
    await expect((sides.get(side) as Databases).database('none').getMany([1])).rejects.toMatchObject({
      code: 'database_not_found',
    });
  });
});
