import perfHooks from 'node:perf_hooks';
import { afterEach, expect, test, vi } from 'vitest';
import { HeldModel } from '../helpers/held-model.js';
import { fan, Service } from './service.js';

const services: Service[] = [];
afterEach(async () => {
  for (const service of services.splice(0)) await service.stop();
});

/** The samples of a scrape by name with labels. */
const scrape = async (service: Service) => {
  const { text } = await service.call('GET', '/metrics');
  const samples = [...text.matchAll(/^(\w+(?:\{[^}]*\})?) ([\d.e+-]+)$/gm)];
  return new Map(samples.map(([, name, value]) => [name as string, Number(value)]));
};

test('services that come and go in a process watch its event loop once', async () => {
  const watch = vi.spyOn(perfHooks, 'monitorEventLoopDelay');
  for (let round = 0; round < 2; round += 1) {
    const service = await Service.start();
    services.push(service);
    expect((await scrape(service)).get('nodejs_eventloop_lag_p50_seconds')).toBeDefined();
  }
  expect(watch.mock.calls.length).toBeLessThanOrEqual(1);
});

test('every metric is there and moves with the work it counts', async () => {
  const service = await Service.start();
  services.push(service);
  await service.call('PUT', '/v1/databases/fan', { dimensions: 2 });
  await service.call('PUT', '/v1/databases/texts', {});
  const before = await scrape(service);
  const moved = (after: Map<string, number>, name: string) =>
    (after.get(name) ?? 0) - (before.get(name) ?? 0);

  await service.call('POST', '/v1/databases/fan/records', { records: fan(500) });
  await service.call('DELETE', '/v1/databases/fan/records/1');
  await service.call('POST', '/v1/databases/texts/records', {
    records: [{ id: 1, data: { text: 'a tower' } }],
  });
  const search = () =>
    service.call('POST', '/v1/databases/texts/search', { search: { text: 'tall building' } });
  await search();
  await search();
  await service.call('POST', '/v1/databases/fan/search', { search: { vector: [1, 0] } });
  const after = await scrape(service);

  const exactly: Record<string, number> = {
    'cosift_http_requests_total{operation="searchB",status="200"}': 3,
    'cosift_http_request_seconds_count{operation="searchB"}': 3,
    'cosift_search_stage_seconds_count{stage="search"}': 3,
    'cosift_search_stage_seconds_count{stage="total"}': 3,
    cosift_scans_total: 3,
    cosift_commits_total: 3,
    'cosift_database_records{database="fan"}': 499,
    'cosift_database_records{database="texts"}': 1,
    cosift_embedder_cache_hits_total: 1,
    cosift_embedder_cache_misses_total: 1,
    cosift_embedder_inferences_total: 2,
  };
  for (const [name, by] of Object.entries(exactly)) expect(moved(after, name), name).toBe(by);
  const grows = [
    'cosift_search_stage_seconds_count{stage="embed"}',
    'cosift_search_stage_seconds_sum{stage="total"}',
    'cosift_commit_seconds_total',
    'cosift_embedder_seconds_total',
    'cosift_database_memory_bytes{database="fan"}',
    'cosift_database_disk_bytes{database="fan"}',
  ];
  for (const name of grows) expect(moved(after, name), name).toBeGreaterThan(0);
  // Two values of a byte each at least, for every record that a scan compared.
  expect(moved(after, 'cosift_scan_bytes_total')).toBeGreaterThan(499 * 2);
  const levels = ['cosift_scan_queue_length', 'cosift_commit_queue_length', 'cosift_embedder_queue_length'];
  for (const name of levels) expect(after.get(name), name).toBe(0);
  expect(after.get('cosift_database_loaded{database="fan"}')).toBe(1);

  await service.call('DELETE', '/v1/databases/fan');
  const dropped = await scrape(service);
  expect(dropped.has('cosift_database_records{database="fan"}')).toBe(false);
  // Totals never go back.
  expect(dropped.get('cosift_commits_total')).toBe(after.get('cosift_commits_total'));
});

test('the metrics show a re-embedding until it is done or cancelled', async () => {
  const model = await HeldModel.start();
  const service = await Service.start({ models: { first: model.source } });
  services.push(service);
  await service.call('PUT', '/v1/databases/fan', { dimensions: 2 });
  await service.call('PUT', '/v1/databases/other', { dimensions: 2 });
  const records = fan(1200);
  for (let first = 0; first < records.length; first += 100) {
    const some = records.slice(first, first + 100);
    await service.call('POST', '/v1/databases/fan/records', { records: some });
  }
  const gauges = async () => {
    const samples = [...(await scrape(service))].filter(([name]) => name.startsWith('cosift_reembedding_'));
    return Object.fromEntries(samples);
  };
  expect(await gauges()).toEqual({});

  const path = '/v1/databases/fan/reembedding';
  const start = () => service.call('POST', path, { model: 'first' });
  const all = 'cosift_reembedding_records{database="fan"}';
  const done = 'cosift_reembedding_records_done{database="fan"}';
  // One request loads the model. Later ones have 32 texts, so eight of them embed a batch of 256.
  model.allow(1);
  await start();
  await model.untilWaiting();
  expect(await gauges()).toEqual({ [all]: 1200, [done]: 0 });
  model.allow(8);
  await model.untilWaiting();
  expect(await gauges()).toEqual({ [all]: 1200, [done]: 256 });
  expect((await service.call('GET', path)).body).toMatchObject({ records: 1200, done: 256 });
  await service.call('DELETE', path);
  expect(await gauges()).toEqual({});
  model.allow(Number.POSITIVE_INFINITY);

  const ids = records.slice(20).map(({ id }) => id);
  await service.call('POST', '/v1/databases/fan/records/delete', { ids });
  expect((await start()).status).toBe(202);
  while ((await service.call('GET', path)).body.state !== 'done');
  expect(await gauges()).toEqual({});
});
