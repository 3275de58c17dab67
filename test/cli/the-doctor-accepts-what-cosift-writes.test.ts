import { appendFile, cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Cosift, open } from 'cosift';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DoctorCheck } from '../../src/schema/index.js';
import { bytesOf } from '../helpers/archives.js';
import { sql } from '../helpers/doctor/sql.js';
import { cosift, KEY, serve, temporaryDirectory } from '../helpers/processes.js';
import { Random } from '../helpers/random.js';
import { smallModel } from '../helpers/small-model.js';

async function unwell(...args: string[]): Promise<DoctorCheck[]> {
  const { stdout, stderr } = await cosift('doctor', ...args, '--json');
  expect(stderr).toBe('');
  const checks: DoctorCheck[] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(checks.length).toBeGreaterThan(5);
  return checks.filter(({ status }) => status !== 'ok');
}

/** Makes a directory with keys, patches, and a database embedded again with an added model. */
async function makeDirectory(directory: string): Promise<void> {
  smallModel(path.join(directory, 'models/mine'));
  const random = new Random(5);
  const vector = () => Array.from({ length: 8 }, () => random.below(2001) / 1000 - 1);
  await using library = await open(directory);
  const keyed = await library.createDatabase('keyed', { dimensions: 8 });
  const record = (n: number) => ({ key: `SKU-${n}`, data: { n }, vector: vector() });
  await keyed.upsert(Array.from({ length: 4500 }, (_, n) => record(n)));
  await keyed.upsert([{ id: 9000, data: { n: -1 }, vector: vector() }]);
  for (let n = 0; n < 20; n++) await keyed.patch(`key:SKU-${n}`, { n: null, patched: true });
  await keyed.delete({ ids: ['key:SKU-100', 9000] });
  await keyed.upsert([record(100), record(5)]);
  const texts = await library.createDatabase('texts');
  await texts.upsert(['red', 'green', 'blue'].map((text) => ({ key: text, data: { text } })));
  await texts.reembed('mine');
  await texts.patch('key:green', { text: 'green and blue' });
  await storeUnknownTexts(library);
}

/** Stores texts of which the model knows nothing, one of them with a vector that came with it. */
async function storeUnknownTexts(library: Cosift): Promise<void> {
  const unknown = await library.createDatabase('unknown');
  await unknown.upsert([
    { id: 1, data: { text: 'tower' } },
    { id: 2, data: { text: '🎉' } },
  ]);
  const [line] = String(await bytesOf(unknown.exportLines({ vectors: true }))).split('\n');
  const { vector, embedded_by } = JSON.parse(line as string);
  await (await library.createDatabase('given', { embed: { columns: ['text'] } })).upsert([
    { id: 1, data: { text: '❤️' }, vector, embedded_by },
    { id: 2, data: { text: 'สวัสดี' } },
  ]);
  expect((await library.database('given').describe()).without_text).toBe(1);
}

let root: string;
let sound: string;
beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'cosift-doctor-'));
  sound = path.join(root, 'data');
  await makeDirectory(sound);
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function copy(filter?: (place: string) => boolean): Promise<string> {
  const directory = path.join(await temporaryDirectory(), 'data');
  await cp(sound, directory, { recursive: true, filter });
  return directory;
}

test('keys, patches, a re-embedding and an added model are in order', async () => {
  expect(await unwell('--data', sound)).toEqual([]);
});

test('a directory that was restored from a backup is in order', async () => {
  const directory = await temporaryDirectory();
  const archive = path.join(directory, 'all.tar');
  expect(await cosift('backup', '--data', await copy(), '--output', archive)).toMatchObject({ code: 0 });
  const data = path.join(directory, 'data');
  expect(await cosift('restore', archive, '--data', data)).toMatchObject({ code: 0 });
  await cp(path.join(sound, 'models'), path.join(data, 'models'), { recursive: true });
  expect(await unwell('--data', data)).toEqual([]);
});

test('changed files of a model are found', async () => {
  const data = await copy();
  await appendFile(path.join(data, 'models/mine/tokenizer.json'), ' ');
  expect(await unwell('--data', data)).toMatchObject([
    { check: 'model', database: 'texts', status: 'problem' },
  ]);
});

test.each([
  ["UPDATE changes SET key = 'SKU-7' WHERE key = 'SKU-8'", 'changes'],
  ["UPDATE changes SET key = NULL WHERE key = 'SKU-9'", 'changes'],
  ["UPDATE contents SET key = 'SKU-7' WHERE key = 'SKU-8'", 'records'],
  ["UPDATE contents SET key = NULL WHERE key = 'SKU-9'", 'records'],
])('%s is found', async (statement, check) => {
  const data = await copy((place) => !/(texts|unknown|given|models)$/.test(place));
  sql(path.join(data, 'databases/keyed/records.sqlite'), statement);
  const found = await unwell('--data', data);
  expect(found.map((one) => one.check)).toContain(check);
});

test('a server holds its directory, and reports a damaged record of a database that it serves', async () => {
  const data = await copy();
  const { url } = await serve(data);
  const locked = await cosift('doctor', '--data', data);
  expect(locked).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/in use by process \d+.*give --url/),
  });
  const target = ['--url', url, '--key', KEY];
  expect(await unwell(...target)).toEqual([]);
  sql(
    path.join(data, 'databases/keyed/records.sqlite'),
    "UPDATE contents SET data = CAST('{}' AS BLOB) WHERE key = 'SKU-42'",
  );
  const found = await unwell(...target);
  expect(found.find(({ check }) => check === 'records')?.problems).toContainEqual({
    detail: 'the checksum of the record does not match',
    records: 1,
    ids: [43],
  });
});
