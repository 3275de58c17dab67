import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inFull } from '../helpers/full.js';
import { outputOf } from './logged.js';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'cosift-log-'));
});
afterAll(() => rm(directory, { recursive: true }));

const HEADERS = { 'x-forwarded-for': '203.0.113.7, 198.51.100.2' };

const CLIENTS = [
  ['no proxy is trusted', [], '127.0.0.1'],
  ['another proxy is trusted', ['10.0.0.0/8'], '127.0.0.1'],
  ['the last proxy is trusted', ['127.0.0.0/8'], '198.51.100.2'],
  ['both proxies are trusted', ['127.0.0.1', '198.51.100.0/24'], '203.0.113.7'],
] as const;

test.each(inFull(CLIENTS, CLIENTS.slice(2)))('%s', async (_, proxies, client) => {
  const output = await outputOf(
    ['--data', directory, ...proxies.flatMap((proxy) => ['--trusted-proxies', proxy])],
    { COSIFT_ADMIN_KEY: 'a-key' },
    [['/livez', { headers: HEADERS }]],
  );
  const line = output.split('\n').find((text) => text.includes('"answered"'));
  expect(JSON.parse(line ?? '')).toMatchObject({ operation: 'livez', client });
});

test('what is no address is not logged as one', async () => {
  const output = await outputOf(
    ['--data', directory, '--trusted-proxies', '127.0.0.1'],
    { COSIFT_ADMIN_KEY: 'a-key' },
    [['/livez', { headers: { 'x-forwarded-for': 'any text of the client' } }]],
  );
  const line = output.split('\n').find((text) => text.includes('"answered"'));
  expect(JSON.parse(line ?? '')).toMatchObject({ operation: 'livez', client: '127.0.0.1' });
});
