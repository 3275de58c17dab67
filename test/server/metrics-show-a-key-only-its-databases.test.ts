import { afterAll, beforeAll, expect, test } from 'vitest';
import { fan, Service } from './service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  for (const database of ['one', 'one-more', 'two']) {
    await service.call('PUT', `/v1/databases/${database}`, { dimensions: 2 });
    await service.call('POST', `/v1/databases/${database}/records`, { records: fan(3) });
  }
});
afterAll(() => service.stop());

const metrics = async (databases: string[] | '*') => {
  const wanted = { name: 'k', actions: ['databases.manage'], databases };
  const { key } = (await service.call('POST', '/v1/keys', wanted)).body;
  const { status, text } = await service.call('GET', '/metrics', undefined, { 'x-api-key': key });
  expect(status).toBe(200);
  return text as string;
};
const named = (text: string) => [...new Set([...text.matchAll(/database="([^"]*)"/g)].map(([, id]) => id))];

test('a key of every database sees all of it', async () => {
  const text = await metrics('*');
  expect(named(text).sort()).toEqual(['one', 'one-more', 'two']);
  expect(text).toMatch(/^cosift_http_requests_total\{/m);
});

test('a key for one database sees the metrics of that database, and none of the service', async () => {
  const text = await metrics(['one']);
  expect(named(text)).toEqual(['one']);
  expect(text).toMatch(
    /^# TYPE cosift_database_records gauge\ncosift_database_records\{database="one"\} 3$/m,
  );
  expect(text).not.toContain('two');
  const values = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  expect(values.every((line) => line.includes('{database="one"}'))).toBe(true);
  expect(await metrics(['none'])).toBe('');
});
