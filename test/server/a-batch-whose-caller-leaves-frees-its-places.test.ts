import { afterEach, beforeEach, expect, test } from 'vitest';
import { HeldModel } from '../helpers/held-model.js';
import { ALL_ZERO, issueKey, Raw, request, untilGauges } from './raw.js';
import { Service } from './service.js';

const SEARCHES = 64;

let service: Service | undefined;
const warnings: Error[] = [];
const warn = (warning: Error) => warnings.push(warning);
beforeEach(() => {
  process.on('warning', warn);
});
afterEach(async () => {
  await service?.stop();
  process.off('warning', warn);
  expect(warnings.splice(0)).toEqual([]);
});

const waitingTexts = async (service: Service) => {
  const { text } = await service.call('GET', '/metrics');
  return Number(/^cosift_embedder_queue_length (\d+)$/m.exec(text)?.[1]);
};

test('texts of a batch whose caller leaves are dropped, and its key has its share again', async () => {
  const model = await HeldModel.start();
  service = await Service.start({ models: { first: model.source }, maxSearches: SEARCHES });
  await service.call('PUT', '/v1/databases/db', { model: 'first' });
  model.allow(Number.POSITIVE_INFINITY);
  await service.call('POST', '/v1/databases/db/records', { records: [{ id: 1, data: { text: 'a tower' } }] });
  model.allow(0);
  const { key } = await issueKey(service);
  const headers = { 'x-api-key': key };
  const batch = (at: number) => {
    const searches = Array.from({ length: SEARCHES }, (_, i) => ({ search: { text: `batch ${at}, ${i}` } }));
    return JSON.stringify({ searches });
  };
  const single = { search: { text: 'a single search', threshold: 0 } };
  for (const [at, path] of ['/v1/databases/db/searches', '/v1/databases/db/records/searches'].entries()) {
    const raw = new Raw(service);
    raw.socket.write(request(key, 'POST', path, batch(at)));
    // All that are sent at a time: one on its way would still reach the model.
    await expect.poll(() => model.waiting).toBe(4);
    const refused = await service.call('POST', '/v1/databases/db/search', single, headers);
    expect([refused.status, refused.body.code]).toEqual([503, 'busy']);
    const sent = model.requests.length;
    raw.reset();
    await untilGauges(service, ALL_ZERO);
    await expect.poll(() => waitingTexts(service as Service)).toBe(0);
    model.allow(Number.POSITIVE_INFINITY);
    const found = await service.call('POST', '/v1/databases/db/search', single, headers);
    expect([found.status, found.body.results.length]).toEqual([200, 1]);
    // Besides the text of the single search, if it is not known from the round before.
    expect(model.requests.length - sent).toBeLessThanOrEqual(1);
    model.allow(0);
  }
});
