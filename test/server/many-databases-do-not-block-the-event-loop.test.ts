import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIMITS } from '../../src/schema/index.js';
import { inFull } from '../helpers/full.js';
import { ClientThread } from './client-thread.js';
import { turnShare } from './longest-turn.js';
import { Service } from './service.js';

const DATABASES = inFull(1_000, 200);
const AT_ONCE = 16;

let directory: string;
let service: Service;
let client: ClientThread;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'cosift-many-'));
  const first = await Service.start({ data: directory });
  await first.call('PUT', '/v1/databases/wide', { dimensions: 2 });
  for (let at = 0; at < LIMITS.database_columns; at += 1_000) {
    const names = Array.from({ length: 1_000 }, (_, i) => `column ${at + i} `.padEnd(256, 'x'));
    const data = Object.fromEntries(names.map((name) => [name, 1]));
    const { status } = await first.call('POST', '/v1/databases/wide/records', {
      records: [{ id: at + 1, data, vector: [1, 0] }],
    });
    expect(status).toBe(200);
  }
  await first.call('PUT', '/v1/databases/d', { dimensions: 2 });
  await first.stop();
  const databases = path.join(directory, 'databases');
  for (let i = 1; i < DATABASES; i += 1) {
    await cp(path.join(databases, 'd'), path.join(databases, `d${i}`), { recursive: true });
  }
  service = await Service.start({ data: directory });
  client = new ClientThread(service.url, service.adminKey);
});

afterAll(async () => {
  await client.close();
  await service.stop();
  await rm(directory, { recursive: true, force: true });
});

test('a service with many databases becomes ready', async () => {
  const status = async () => (await service.call('GET', '/readyz')).status;
  await expect.poll(status, { timeout: 120_000 }).toBe(200);
});

test.each([
  '/readyz',
  '/metrics',
  '/v1/databases',
  '/v1/databases/wide',
  '/v1/keys',
  '/v1/keys/self',
  '/docs',
  '/openapi.json',
])('the event loop turns during requests for %s', async (target) => {
  for (const count of [1, AT_ONCE]) {
    const share = await turnShare(async () => {
      expect(await client.send('GET', target, undefined, count)).toBe(200);
    });
    console.log(`${target}, ${count} at once: ${share.toFixed(2)} of a turn`);
    expect(share).toBeLessThanOrEqual(1);
  }
});
