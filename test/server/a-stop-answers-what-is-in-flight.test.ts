import { expect, test } from 'vitest';
import { LocalBackend } from '../../src/backend/index.js';
import { fan, JSON_TYPE, Service } from './service.js';

test('writes with their embeddings, searches and waits, and every record is there afterwards', async () => {
  const service = await Service.start();
  const { directory } = service;
  await service.call('PUT', '/v1/databases/own', { dimensions: 2 });
  await service.call('PUT', '/v1/databases/facts', {});
  await service.call('PUT', '/v1/databases/quiet', { dimensions: 2 });
  await service.call('POST', '/v1/databases/own/records', { records: fan(50) });
  const texts = Array.from({ length: 80 }, (_, i) => ({ id: i + 1, data: { text: `fact number ${i}` } }));
  const { server } = service.running.app;
  const reached = new Promise<void>((resolve) => {
    let requests = 0;
    server.on('request', () => {
      requests += 1;
      if (requests === 3) resolve();
    });
  });
  const begun = [
    service.call('POST', '/v1/databases/facts/records', { records: texts }),
    service.call('POST', '/v1/databases/own/search', { search: { vector: [1, 0], threshold: 0 } }),
    service.call('GET', '/v1/databases/quiet/changes?wait=30'),
  ];
  await reached;
  const closing = service.running.close();
  expect(service.running.close()).toBe(closing);
  const [written, found, waited] = await Promise.all(begun);
  expect(written, written!.text).toMatchObject({ status: 200, body: { created: 80 } });
  expect(found!.body.results.length).toBeGreaterThan(0);
  expect(waited).toMatchObject({ status: 200, body: { changes: [] } });
  await closing;
  await expect(
    fetch(`${service.url}/v1/databases`, { headers: { ...JSON_TYPE, 'x-api-key': service.adminKey } }),
  ).rejects.toThrow();

  const backend = await LocalBackend.open({ directory });
  expect((await backend.describeDatabase('facts')).records).toBe(80);
  await backend.close();
  await service.stop();
});
