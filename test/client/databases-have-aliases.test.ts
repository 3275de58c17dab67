import { describe, expect, test } from 'vitest';
import { bothSides } from './both-sides.js';

const sides = bothSides();
const record = (id: number) => ({ id, data: { n: id }, vector: [1, id] });

describe.each(['library', 'client'])('%s', (side) => {
  test('every method of a database takes an alias in place of the id', async () => {
    const databases = sides.get(side)!;
    const [first, second] = await Promise.all(
      ['first', 'second'].map((id) => databases.createDatabase(id, { dimensions: 2 })),
    );
    await databases.setAlias('current', 'first');
    expect(await databases.aliases()).toEqual([{ name: 'current', database: 'first' }]);
    const current = databases.database('current');

    const records = [record(1)];
    const written = current.upsert(records);
    // An array may be changed once the call has begun.
    records[0] = record(2);
    await written;
    expect(await first!.get(1)).toMatchObject({ data: { n: 1 } });
    expect((await current.describe()).id).toBe('first');
    expect((await current.search({ vector: [1, 1] })).results).toHaveLength(1);
    expect((await current.searchMany([{ search: { vector: [1, 1] } }]))[0]?.page?.results).toHaveLength(1);
    expect((await current.query()).results).toHaveLength(1);
    expect(await current.patch(1, { more: true })).toMatchObject({ data: { n: 1, more: true } });
    expect((await current.changes()).changes).toHaveLength(2);
    const lines = [];
    for await (const chunk of current.exportLines()) lines.push(chunk);
    expect(lines).toHaveLength(1);
    const archive = [];
    for await (const chunk of databases.backup({ database: 'current' })) archive.push(chunk);
    expect(Buffer.concat(archive).includes('databases/first/')).toBe(true);
    for await (const { type } of current.upsertLines([JSON.stringify(record(3))]))
      expect(type).not.toBe('problem');
    expect(await current.replaceAll([record(1), record(4)])).toMatchObject({ created: 1, deleted: 1 });
    expect(await current.delete({ ids: [4] })).toBe(1);

    await databases.setAlias('current', 'second');
    expect((await current.describe()).id).toBe('second');
    await current.upsert([record(7)]);
    expect(await second!.get(7)).toBeDefined();
    await expect(current.drop()).rejects.toMatchObject({ code: 'alias_conflict' });
    await expect(databases.createDatabase('current', { dimensions: 2 })).rejects.toMatchObject({
      code: 'alias_conflict',
    });
    await databases.deleteAlias('current');
    await expect(current.describe()).rejects.toMatchObject({ code: 'database_not_found' });
    await expect(databases.deleteAlias('current')).rejects.toMatchObject({ code: 'alias_not_found' });
  });

  test('a name that no database can have is refused', async () => {
    const databases = sides.get(side)!;
    for (const call of [
      databases.setAlias('Upper', 'first'),
      databases.setAlias('lower', 'a b'),
      databases.setAlias('lower', undefined as never),
      databases.deleteAlias(''),
    ]) {
      await expect(call).rejects.toMatchObject({ code: 'invalid_request' });
    }
  });
});
