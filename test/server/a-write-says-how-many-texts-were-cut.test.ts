import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { open } from 'cosift';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Client } from '../../src/client/index.js';
import { cosift, temporaryDirectory } from '../helpers/processes.js';
import { LINES_TYPE, Service } from './service.js';

let service: Service;

beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.stop());

// The built-in model takes 254 tokens of a text; "text", ":" and each "word" are one.
const fits = { data: { text: 'word '.repeat(252) } };
const long = { data: { text: 'word '.repeat(253) } };
const records = [
  { id: 1, ...fits },
  { id: 2, ...long },
  { id: 3, data: { text: 'short', n: 1 } },
  { id: 4, data: { text: `${'x'.repeat(50_000)} ${'漢字'.repeat(40_000)}` } },
  { id: 5, data: { text: '' } },
];

test('a batch, and not those that are unchanged', async () => {
  await service.call('PUT', '/v1/databases/batch');
  const at = '/v1/databases/batch/records';
  const first = await service.call('POST', at, { records });
  expect(first.body).toMatchObject({ created: 5, truncated: 2 });
  const again = await service.call('POST', at, { records });
  expect(again.body).toMatchObject({ unchanged: 5, truncated: 0 });
  const changed = await service.call('POST', at, {
    records: [{ id: 3, data: { text: `${long.data.text}!` } }],
  });
  expect(changed.body).toMatchObject({ changed: 1, truncated: 1 });
});

test('a stream of records', async () => {
  await service.call('PUT', '/v1/databases/lines');
  const many = Array.from({ length: 300 }, (_, at) => ({
    id: at + 1,
    ...(at % 100 === 7 ? long : { data: { text: `${at}` } }),
  }));
  const body = many.map((record) => `${JSON.stringify(record)}\n`).join('');
  const { text } = await service.call('POST', '/v1/databases/lines/records', body, LINES_TYPE);
  const events = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(events.at(-1)).toMatchObject({ type: 'summary', created: 300, truncated: 3 });
  const progress = events.filter(({ type }) => type === 'progress');
  expect(progress.at(-1)).toMatchObject({ lines: 300, truncated: 3 });
  expect(progress[0]).toMatchObject({ lines: 256, truncated: 3 });
});

test('the client and the library', async () => {
  const client = new Client({ url: service.url, key: service.adminKey });
  const remote = await client.createDatabase('client');
  expect(await remote.upsert(records)).toMatchObject({ created: 5, truncated: 2 });
  const own = await open(await temporaryDirectory());
  try {
    const database = await own.createDatabase('library');
    expect(await database.upsert(records)).toMatchObject({ created: 5, truncated: 2 });
    const vectors = await own.createDatabase('vectors', { dimensions: 2 });
    const given = records.map((record) => ({ ...record, vector: [1, 0] }));
    expect(await vectors.upsert(given)).toMatchObject({ created: 5, truncated: 0 });
  } finally {
    await own.close();
  }
});

test('an import on the command line', async () => {
  const directory = await temporaryDirectory();
  const file = join(directory, 'records.ndjson');
  await writeFile(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  const args = ['import', file, '--database', 'd', '--data', join(directory, 'data')];
  expect((await cosift(...args)).stdout).toMatch(
    /^5 records .*\n2 records are longer than the model takes: /,
  );
  const again = await cosift(...args);
  expect(again.stdout).toMatch(/^5 records .*\n/);
  expect(again.stdout).not.toContain('longer than the model takes');
});
