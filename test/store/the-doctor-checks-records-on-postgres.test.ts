import { afterAll, beforeAll, expect, test } from 'vitest';
import { Models } from '../../src/databases/models.js';
import { DatabaseService } from '../../src/databases/service.js';
import { type DoctorCheck, LIMITS } from '../../src/schema/index.js';
import { PostgresStore } from '../../src/store/postgres/index.js';
import { PGliteDatabase } from '../helpers/postgres/pglite-database.js';

let pglite: PGliteDatabase;
let databases: DatabaseService;

beforeAll(async () => {
  pglite = await PGliteDatabase.open();
  databases = new DatabaseService(new PostgresStore(pglite, LIMITS), new Models({}, 1), {
    limits: LIMITS,
    resume: false,
  });
  await databases.ready;
  const put = (id: string, records: object[]) =>
    databases.writer.upsertBatch(id, Buffer.from(JSON.stringify({ records })));
  await databases.catalog.create('vectors', { dimensions: 3 });
  await put(
    'vectors',
    Array.from({ length: 700 }, (_, at) => ({
      id: at + 1,
      data: { text: `text ${at} \u0000 größe`, n: at / 7, none: null, yes: at % 2 === 0 },
      ...(at % 5 === 0 && { key: `key ${at}` }),
      vector: [1, at / 3, -0.7],
    })),
  );
  await databases.writer.deleteRecords('vectors', { ids: [700] } as never, {});
  await databases.catalog.create('texts', {});
  const long = Array.from({ length: 600 }, (_, at) => `word${at}`).join(' ');
  await put('texts', [
    { id: 1, data: { text: 'Lake Baikal is deep' } },
    { id: 2, data: { text: long } },
    { id: 3, data: {} },
  ]);
});
afterAll(async () => {
  await databases.close();
  await pglite.destroy();
});

const examined = async (id: string) => {
  const checks: DoctorCheck[] = [];
  for await (const check of databases.doctor.examine([id], {})) checks.push(check);
  return Object.fromEntries(checks.map(({ check, status, problems }) => [check, problems ?? status]));
};

/** Examines a database after a statement that is undone. */
const after = async (id: string, statement: string, undo: string) => {
  await pglite.write((sql) => sql.run(statement));
  try {
    return await examined(id);
  } finally {
    await pglite.write((sql) => sql.run(undo));
  }
};

test('what cosift wrote is in order', async () => {
  expect(await examined('vectors')).toEqual({ records: 'ok', count: 'ok', changes: 'ok' });
  const ok = { records: 'ok', count: 'ok', changes: 'ok', model: 'ok', vectors: 'ok' };
  expect(await examined('texts')).toEqual(ok);
});

test('what was stored under higher limits is in order', async () => {
  const store = new PostgresStore(pglite, { ...LIMITS, record_bytes: 1, database_columns: 1 });
  for (const id of ['vectors', 'texts']) {
    const { checks } = await store.examine(id, {});
    expect(checks.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok']);
  }
});

test('a database that is dropped meanwhile is left out', async () => {
  const checks: DoctorCheck[] = [];
  for await (const check of databases.doctor.examine(['dropped', 'vectors'], {})) checks.push(check);
  expect(checks.map(({ database }) => database)).toEqual(['vectors', 'vectors', 'vectors']);
});

const swapped = (column: string, value: string) => [
  `UPDATE cosift.records_1_1 SET ${column} = ${value} WHERE id = 640`,
  `UPDATE cosift.records_1_1 SET ${column} = o.${column} FROM damaged AS o WHERE records_1_1.id = 640 AND o.id = 640`,
];

test.each([
  ['hash', "'\\x00'::bytea"],
  ['cells', `'{"text": "other"}'::jsonb`],
  ['data', `'{"text": "other"}'`],
  ['data', "'no JSON'"],
  ['emb', "'[0,0,1]'::vector"],
  ['exact', "'\\x01'::bytea"],
  ['direction', "'\\x01'::bytea"],
])('a record with another %s (%s) is named', async (column, value) => {
  await pglite.write(async (sql) => {
    await sql.run('CREATE TABLE IF NOT EXISTS damaged AS SELECT * FROM cosift.records_1_1 WHERE id = 640');
  });
  const [statement, undo] = swapped(column, value) as [string, string];
  const found = await after('vectors', statement, undo);
  expect(found).toMatchObject({ records: [{ records: 1, ids: [640] }], count: 'ok', changes: 'ok' });
  expect(await examined('vectors')).toEqual({ records: 'ok', count: 'ok', changes: 'ok' });
});

test('a passage that is missing, a wrong count and a gap in the feed are found', async () => {
  const passage = await after(
    'texts',
    'UPDATE cosift.passages_2_1 SET number = 100 WHERE number = 0',
    'UPDATE cosift.passages_2_1 SET number = 0 WHERE number = 100',
  );
  expect(passage).toMatchObject({ records: [{ records: 1, ids: [2] }] });
  const more = await after(
    'texts',
    'INSERT INTO cosift.passages_2_1 SELECT 1, 0, passage_emb, passage_direction FROM cosift.passages_2_1 LIMIT 1',
    'DELETE FROM cosift.passages_2_1 WHERE record = 1',
  );
  expect(more).toMatchObject({ records: [{ records: 1, ids: [1] }] });
  const count = await after(
    'vectors',
    "UPDATE cosift.databases SET records = 7 WHERE id = 'vectors'",
    "UPDATE cosift.databases SET records = 699 WHERE id = 'vectors'",
  );
  expect(count).toMatchObject({
    records: 'ok',
    count: [{ detail: '699 records are stored, and 7 are counted' }],
  });
  const feed = await after(
    'vectors',
    'UPDATE cosift.changes_1 SET position = -5 WHERE position = 5',
    'UPDATE cosift.changes_1 SET position = 5 WHERE position = -5',
  );
  expect(feed).toMatchObject({ records: 'ok', changes: [{ detail: expect.stringContaining('700 of 701') }] });
});

test('a copy of a database is found, and the advice helps', async () => {
  const checks = async () => {
    const found: DoctorCheck[] = [];
    for await (const check of databases.doctor.examine(['vectors', 'texts'], {})) found.push(check);
    return found.filter(({ check }) => check === 'identity');
  };
  expect(await checks()).toEqual([]);
  await pglite.write((sql) =>
    sql.run(
      "UPDATE cosift.databases SET epoch = (SELECT epoch FROM cosift.databases WHERE id = 'vectors') WHERE id = 'texts'",
    ),
  );
  const [copy] = await checks();
  expect(copy).toMatchObject({ database: 'texts', status: 'problem' });
  const [statement = ''] = /UPDATE .*/.exec(copy?.advice ?? '') ?? [];
  await pglite.write((sql) => sql.run(statement));
  expect(await checks()).toEqual([]);
});
