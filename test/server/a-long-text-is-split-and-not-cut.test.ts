import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
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
  { id: 4, data: { text: '漢字'.repeat(400) } },
  { id: 5, data: { text: '' } },
];
// 800 ideographs are one token each.
const passages = { 1: undefined, 2: 'text', 3: undefined, 4: 'text', 5: undefined };

test('in a batch, and a search of either variant shows the passage', async () => {
  await service.call('PUT', '/v1/databases/batch');
  const at = '/v1/databases/batch/records';
  const first = await service.call('POST', at, { records });
  expect(first.body).toMatchObject({ created: 5 });
  const described = await service.call('GET', '/v1/databases/batch');
  expect(described.body).toMatchObject({ records: 5, without_text: 1 });
  expect(described.body.passages).toBeGreaterThan(7);
  for (const path of [`${at}/search`, '/v1/databases/batch/search']) {
    const request = { search: { text: 'word', threshold: 0 }, passages: true };
    const { body } = await service.call('POST', path, request);
    expect(body.results).toHaveLength(4);
    const shown = body.results.filter(({ passage }: { passage?: unknown }) => passage !== undefined);
    expect(shown).toHaveLength(2);
    for (const { data, passage } of shown) {
      expect(passage.column).toBe('text');
      expect(passage.end).toBeLessThanOrEqual(data.text.length);
      expect(passage.start).toBeLessThan(passage.end);
    }
    const explained = await service.call('POST', path, { search: { text: 'word' }, explain: true });
    expect(explained.body.results[0]).toHaveProperty('explain');
  }
  const long = await service.call('POST', `${at}/search`, { search: { text: 'word '.repeat(255) } });
  expect(long.status).toBe(200);
  const refused = await service.call('POST', `${at}/search`, { search: { text: '!'.repeat(8_000) } });
  expect(refused).toMatchObject({
    status: 400,
    body: { code: 'invalid_request', errors: [{ pointer: '/search/text', code: 'value_too_long' }] },
  });
});

test('in a stream of records', async () => {
  await service.call('PUT', '/v1/databases/lines');
  const many = Array.from({ length: 300 }, (_, at) => ({
    id: at + 1,
    ...(at % 100 === 7 ? long : { data: { text: `${at}` } }),
  }));
  const body = many.map((record) => `${JSON.stringify(record)}\n`).join('');
  const { text } = await service.call('POST', '/v1/databases/lines/records', body, LINES_TYPE);
  const summary = JSON.parse(text.trim().split('\n').at(-1)!);
  expect(summary).toMatchObject({ type: 'summary', created: 300, failed: 0 });
  const { body: described } = await service.call('GET', '/v1/databases/lines');
  expect(described).toMatchObject({ passages: 306, without_text: 0 });
});

test('by the client, and on the command line', async () => {
  const client = new Client({ url: service.url, key: service.adminKey });
  const remote = await client.createDatabase('client');
  expect(await remote.upsert(records)).toMatchObject({ created: 5 });
  const { results } = await remote.search('word', { threshold: 0, passages: true });
  const columns = Object.fromEntries(results.map(({ id, passage }) => [id, passage?.column]));
  expect({ ...passages, ...columns }).toEqual(passages);

  const directory = await temporaryDirectory();
  const file = join(directory, 'records.ndjson');
  await writeFile(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  const data = join(directory, 'data');
  const imported = await cosift('import', file, '--database', 'd', '--data', data);
  expect(imported.stdout).toMatch(/^5 records .*\n/);
  const args = [
    'search',
    'word',
    '--database',
    'd',
    '--data',
    data,
    '--threshold',
    '0',
    '--passages',
    '--json',
  ];
  const found = await cosift(...args);
  expect(found.stdout.match(/"passage":/g)).toHaveLength(2);

  const best = { threshold: 0, passages: 2, neighbours: 1 };
  const shown = (await remote.search('word', best)).results.map(({ best_passages }) => best_passages);
  const flags = ['--passages', '2', '--neighbours', '1', '--json'];
  const { stdout } = await cosift(...args.slice(0, -2), ...flags);
  const listed = JSON.parse(stdout).results as typeof results;
  expect(listed.map(({ best_passages }) => best_passages)).toEqual(shown);
  const refused = await cosift(...args.slice(0, -2), '--passages', '0');
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('--passages: is 0') });
});
