import { expect, test, vi } from 'vitest';
import type { Database } from '../../src/api/index.js';
import { inFull } from '../helpers/full.js';
import { fan } from '../server/service.js';
import { bothSides } from './both-sides.js';

const sides = bothSides();
const ROUNDS = inFull(8, 2);

/** Deletes what was last written before a time of the store. */
function deleteBefore(database: Database, startedAt: string): Promise<number> {
  return database.delete({ timeRange: { end_time: new Date(Date.parse(startedAt) - 1).toISOString() } });
}

async function ids(database: Database): Promise<number[]> {
  const found = [];
  for await (const { id } of database.queryAll({ sort: { column: 'size' } })) found.push(id);
  return found;
}

for (const side of ['library', 'client']) {
  const create = (id: string): Promise<Database> => sides.get(side)!.createDatabase(id, { dimensions: 2 });

  test(`${side}: exactly what the last upsert did not write is deleted`, async () => {
    const database = await create('batches');
    await database.upsert(fan(2_300));
    for (let round = 0; round < ROUNDS; round += 1) {
      const [first, second] = [fan(2_300), fan(1_100 + round)];
      await database.upsert(first);
      const { started_at } = await database.upsert(second);
      expect(await deleteBefore(database, started_at)).toBe(first.length - second.length);
    }
    expect(await ids(database)).toEqual(fan(1_099 + ROUNDS).map(({ id }) => id));
  });

  test(`${side}: calls that follow each other at once are told apart`, async () => {
    const database = await create('fast');
    for (let round = 0; round < 10 * ROUNDS; round += 1) {
      await database.upsert(fan(2));
      const { started_at } = await database.upsert(fan(1));
      expect(await deleteBefore(database, started_at)).toBe(1);
    }
  });

  test(`${side}: what other calls write meanwhile stays, and what they wrote before does not`, async () => {
    const database = await create('concurrent');
    const write = (id: number) => database.upsert([{ id, data: {}, vector: [1, 0] }]);
    await Promise.all(Array.from({ length: 50 }, (_, at) => write(at + 1)));
    const calls = [51, 52, 53, 54].map(write);
    const times = (await Promise.all(calls)).map(({ started_at }) => started_at).toSorted();
    expect(await deleteBefore(database, times[0] as string)).toBe(50);
  });

  test(`${side}: a stream of lines, and an upsert without records`, async () => {
    const database = await create('lines');
    const startOf = async (lines: string[]) => {
      for await (const event of database.upsertLines(lines))
        if (event.type === 'summary') return event.started_at;
      throw new Error('no summary');
    };
    const lines = fan(700).map((record) => `${JSON.stringify(record)}\n`);
    await startOf(lines);
    expect(await deleteBefore(database, await startOf(lines.slice(0, 600)))).toBe(100);
    await deleteBefore(database, await startOf([]));
    expect((await database.describe()).records).toBe(0);
    await database.upsert(fan(3));
    expect(await deleteBefore(database, (await database.upsert([])).started_at)).toBe(3);
  });

  test(`${side}: the clock of the program does not matter`, async () => {
    const database = await create('clock');
    await database.upsert(fan(2));
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
    const { started_at } = await database.upsert(fan(1));
    vi.useRealTimers();
    expect(await deleteBefore(database, started_at)).toBe(1);
  });
}
