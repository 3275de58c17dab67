import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type CosiftError, open } from 'cosift';
import { expect, test } from 'vitest';
import { Client } from '../../src/client/index.js';
import type { NewRecord } from '../../src/schema/index.js';
import { Service } from '../server/service.js';

/** What `upsert` takes, in the library and in the client. */
type Upsert = (records: NewRecord[]) => Promise<unknown>;

const records = (): NewRecord[] =>
  Array.from({ length: 2_300 }, (_, i) => ({ id: i + 1, data: { rank: i }, vector: [1, i] }));

async function failure(call: Promise<unknown>): Promise<CosiftError> {
  const error = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(Error);
  return error as CosiftError;
}

async function check(upsert: Upsert, count: () => Promise<number>): Promise<void> {
  const bad = records();
  bad[2_200] = { id: 2_201, data: { rank: {} as never }, vector: [1, 2] };
  bad[2_299] = { id: 2_300, data: { nested: {} as never }, vector: [1, 2] };
  const invalid = await failure(upsert(bad));
  expect(invalid.problems.map(({ pointer }) => pointer)).toEqual([
    '/records/2200/data/rank',
    '/records/2299/data/nested',
  ]);
  expect(invalid.fields).toMatchObject({ committed: 2_000 });
  expect(invalid.message).not.toMatch(/\/records\/(200|299)\b/);
  expect(await count()).toBe(2_000);

  const clashing = records();
  clashing[1_001] = { id: 1, uuid: '00000000-0000-4000-8000-000000000001', data: {}, vector: [1, 0] };
  const conflict = await failure(upsert(clashing));
  expect(conflict).toMatchObject({
    code: 'identity_conflict',
    problems: [{ pointer: expect.stringMatching('^/records/1001/') }],
    fields: { committed: 1_000 },
  });

  const first = records().slice(0, 3);
  first[1] = { data: { rank: 1 } };
  const alone = await failure(upsert(first));
  expect(alone).toMatchObject({ problems: [{ pointer: '/records/1/vector' }], fields: { committed: 0 } });
}

test('by its place in the array, and says how many records are committed: the library', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'cosift-failed-'));
  const cosift = await open(directory);
  try {
    const database = await cosift.createDatabase('db', { dimensions: 2 });
    const count = async () => (await database.describe()).records;
    await check((records) => database.upsert(records), count);
    const given = records().map((record) => ({ ...record, vector: Float32Array.from(record.vector!) }));
    given[1_500] = { ...given[1_500]!, vector: Float32Array.from([Number.NaN, 1]) };
    expect(await failure(database.upsert(given))).toMatchObject({
      problems: [{ pointer: '/records/1500/vector/0' }],
      fields: { committed: 1_000 },
    });
  } finally {
    await cosift.close();
    rmSync(directory, { recursive: true });
  }
});

test('by its place in the array, and says how many records are committed: the client', async () => {
  const service = await Service.start();
  try {
    await service.call('PUT', '/v1/databases/db', { dimensions: 2 });
    const database = new Client({ url: service.url, key: service.adminKey }).database('db');
    const count = async () => (await database.describe()).records;
    await check((records) => database.upsert(records), count);
  } finally {
    await service.stop();
  }
});
