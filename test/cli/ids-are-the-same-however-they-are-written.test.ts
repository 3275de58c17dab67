import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { open } from 'cosift';
import { expect, test } from 'vitest';
import { testInFull } from '../helpers/full.js';
import { openFile, recordsOf } from '../helpers/imported-files.js';
import { Command, cosift, temporaryDirectory } from '../helpers/processes.js';

// Each test starts several processes.
async function setUp() {
  const directory = await temporaryDirectory();
  const [file, data] = [join(directory, 'a.csv'), join(directory, 'data')] as [string, string];
  const library = await open(data);
  await library.createDatabase('d', { embed: { columns: ['none'] } });
  await library.close();
  const load = async (content: string, ...args: string[]) => {
    await writeFile(file, content);
    return cosift('import', file, '--database', 'd', '--data', data, ...args);
  };
  const pipe = async (content: string, ...args: string[]) => {
    const command = new Command(['import', '-', '--database', 'd', '--data', data, ...args]);
    command.child.stdin.end(content);
    return { code: await command.ended(), stdout: command.stdout, stderr: command.stderr };
  };
  const count = async () => {
    const library = await open(data);
    try {
      return (await library.database('d').describe()).records;
    } finally {
      await library.close();
    }
  };
  return { load, pipe, count };
}

const SEED = '11111111-1111-1111-1111-111111111111';
const SERVER = '49C1577D-2CB7-41BB-1CF3-08D960A71AAF';

test('UUIDs of any version and in either letter case identify records', async () => {
  const { load } = await setUp();
  const rows = `uuid,name\n${SEED},a\n${SEED},b\n${SERVER},c\n${SERVER.toLowerCase()},d\n`;
  const first = await load(rows);
  expect(first).toMatchObject({
    code: 1,
    stderr:
      `line 3: line 2 has the uuid ${SEED} too; only that line is stored\n` +
      `line 5: line 4 has the uuid ${SERVER.toLowerCase()} too; only that line is stored\n`,
  });
  expect(first.stdout).toContain('2 created, 0 changed, 0 unchanged, 2 bad lines');
  const again = await load(rows);
  expect(again.stdout).toContain('0 created, 0 changed, 2 unchanged, 2 bad lines');
});

test('a UUID of no version does not make a column of UUIDs one of keys', async () => {
  const uuid = '84cf6967-cf82-4d44-9311-4351ee47fbdb';
  const { input } = await openFile(`id,name\n${uuid},a\n${SEED},b\n00000000-0000-0000-0000-000000000000,c\n`);
  expect(input.identity).toMatchObject({ column: 'id', kind: 'uuid' });
  const json = await openFile(
    `[{"uuid":"${SERVER}","data":{"a":1}},{"uuid":"${SERVER.toLowerCase()}","data":{"a":2}}]`,
  );
  expect(await recordsOf(json.input)).toMatchObject({
    records: [{ data: { a: 1 } }],
    bad: [`1: an earlier record on this line has the uuid ${SERVER.toLowerCase()} too; only that is stored`],
  });
});

test('UUIDs in another form are reported by the dry run as by the import, with the usual form', async () => {
  const { load } = await setUp();
  const rows = 'uuid,name\n550e8400e29b41d4a716446655440000,a\n{6f9619ff-8b86-4011-b42d-00c04fc964ff},b\n';
  const dry = await load(rows, '--dry-run');
  expect(dry.stderr).toContain(
    'line 2: column "uuid": "550e8400e29b41d4a716446655440000" is a UUID in another form than 550e8400-e29b-41d4-a716-446655440000',
  );
  const stored = await load(rows);
  expect([stored.code, stored.stderr]).toEqual([1, dry.stderr]);
  expect(dry.code).toBe(1);
  const keys = await load(rows, '--id-column', 'uuid', '--types', 'uuid=text');
  expect(keys).toMatchObject({ code: 0, stdout: expect.stringContaining('2 created') });
});

testInFull('one value of another kind stores no changed row twice', async () => {
  const { load, pipe, count } = await setUp();
  await load('id,name\n1,a\n2,b\n');
  const changed = 'id,name\nx3,c\nx4,d\nx5,e\nx6,f\nx7,g\nx8,h\nx9,i\nx10,j\n1,a2\n2,b2\n';
  const message =
    'the column "id" has keys, but the database has these records by integer ids, such as "1", and they would be ' +
    'stored twice: give --types id=number to keep the integer ids and to report the rows with other values, or ' +
    '--types id=text to store all of them again, by keys';
  expect(await load(changed)).toMatchObject({ code: 1, stderr: `cosift: ${message}\n` });
  expect(await pipe(changed)).toMatchObject({ code: 1, stderr: `cosift: ${message}\n` });
  const lines = '{"id":"x3","name":"c"}\n{"id":1,"name":"a2"}\n';
  expect(await pipe(lines)).toMatchObject({ code: 1, stderr: `cosift: ${message}\n` });
  expect(await count()).toBe(2);
  const ids = await load('id,name\nx3,c\n1,a2\n2,b2\n', '--types', 'id=number');
  expect(ids).toMatchObject({
    code: 1,
    stderr: 'line 2: column "id": "x3" is not an integer from 1 to 9007199254740991 like the other ids\n',
    stdout: expect.stringContaining('0 created, 2 changed'),
  });
  const keys = await load('id,name\nx3,c\n1,a2\n2,b2\n', '--types', 'id=text');
  expect(keys).toMatchObject({ code: 0, stdout: expect.stringContaining('3 created') });
  // Now the database has them by keys, too.
  expect(await load(changed)).toMatchObject({ code: 0, stdout: expect.stringContaining('0 changed') });
});

test('keys are not stored again as integer ids or UUIDs', async () => {
  const { load, pipe, count } = await setUp();
  const upper = '6F9619FF-8B86-D011-B42D-00CF4FC964FF';
  const loaded = await load(`id,name\n5,a\n${SEED},b\n${upper},b\nx,c\n`);
  expect(loaded.stdout).toContain('identity: the column "id" (keys, because of "x")');
  const ids = await load('id,name\n7,z\n5,a2\n');
  expect(ids).toMatchObject({ code: 1 });
  expect(ids.stderr).toContain(
    'has integer ids, but the database has these records by keys, such as "5", and they would be stored twice: ' +
      'give --types id=text to keep the keys',
  );
  expect((await pipe('{"id":5,"name":"a2"}\n')).stderr).toContain('--types id=text');
  expect((await load(`id,name\n${SEED},b2\n`)).stderr).toContain(
    `has UUIDs, but the database has these records by keys, such as "${SEED}"`,
  );
  // Also where it is written in another way.
  expect((await load(`id,name\n${upper.toLowerCase()},b2\n`)).stderr).toContain('by keys');
  expect(await count()).toBe(4);
  expect((await load('id,name\n5,a2\n', '--types', 'id=text')).stdout).toContain('0 created, 1 changed');
});

test('UUIDs are not stored again as keys', async () => {
  const { load, count } = await setUp();
  await load(`id,name\n${SEED},a\n`);
  expect((await load(`id,name\n${SEED.toLowerCase()},a2\nunknown,b\n`)).stderr).toContain(
    `has keys, but the database has these records by UUIDs, such as "${SEED}"`,
  );
  expect(await count()).toBe(1);
});

testInFull('integer ids that the database gave to other records do not overwrite these', async () => {
  const { load, pipe, count } = await setUp();
  await load('id,name\nx1,a\nx2,b\n');
  const file = 'id,name\n1,c\n2,d\n';
  const message =
    'the column "id" has integer ids, but the database gave such ids to records with keys, such as 1, which the record ' +
    'with the key "x1" has, and they would be overwritten: give --types id=text to store records of their own by keys, ' +
    'or --types id=number to overwrite them';
  for (const args of [['--dry-run'], []]) {
    expect(await load(file, ...args)).toMatchObject({ code: 1, stdout: '', stderr: `cosift: ${message}\n` });
    expect(await pipe(file, ...args)).toMatchObject({ code: 1, stderr: `cosift: ${message}\n` });
  }
  // One record that a file gave its id says nothing about another one.
  await load('id,name\n7,e\n');
  expect((await load('id,name\n7,e\n2,d\n')).stderr).toContain(
    'such as 2, which the record with the key "x2" has',
  );
  expect(await count()).toBe(3);
  expect((await load(file, '--types', 'id=text')).stdout).toContain('2 created');
  expect((await load(file, '--types', 'id=number')).stdout).toContain('0 created, 2 changed');
});

test('integer ids do not overwrite records that rows without an identity made', async () => {
  const { load } = await setUp();
  await load('name,price,tag\na,1.5,\nb,2.25,new\n');
  const file = 'id,name\n1,c\n2,d\n';
  const refused = await load(file);
  expect(refused).toMatchObject({ code: 1 });
  expect(refused.stderr).toContain(
    'gave such ids to records without an id of their own, such as 1, and they would be',
  );
  expect((await load(file, '--dry-run')).stderr).toBe(refused.stderr);
  expect((await load(file, '--types', 'id=number')).stdout).toContain('0 created, 2 changed');
  // Now these are records with the ids of a file.
  expect((await load('id,name\n1,c\n2,e\n')).stdout).toContain('0 created, 1 changed, 1 unchanged');
});

test('a dry run checks a database that exists by its settings', async () => {
  const { load } = await setUp();
  const long = 'The committee met on a Tuesday and discussed the budget. '.repeat(1_000);
  const file = `id,text\n1,${long}\n`;
  // The text is not embedded.
  for (const args of [['--dry-run'], []])
    expect(await load(file, ...args)).toMatchObject({ code: 0, stderr: '' });
  const other = await load(file, '--embed', 'text');
  expect(other.code).toBe(1);
  expect(await load(file, '--embed', 'text', '--dry-run')).toMatchObject({ code: 1, stderr: other.stderr });
});
