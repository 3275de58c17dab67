import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LIMITS, searchesBytes } from '../../src/schema/index.js';
import { fan, Service } from './service.js';

let service: Service;

beforeAll(async () => {
  service = await Service.start();
  await service.call('PUT', '/v1/databases/fan', { dimensions: 2 });
  await service.call('POST', '/v1/databases/fan/records', { records: fan(100) });
});
afterAll(() => service.stop());

const PATHS = { a: '/v1/databases/fan/records', b: '/v1/databases/fan' };
const search = { vector: [1, 0], threshold: 0 };
const one = { search };

describe.each(['a', 'b'] as const)('variant %s', (variant) => {
  const path = PATHS[variant];
  const post = (body: unknown) => service.call('POST', `${path}/searches`, body);

  test('a batch has the page of each search, in their order', async () => {
    const filter = { condition: 'AND', rules: [{ column: 'even', operator: 'equals', value: true }] };
    const requests = [
      { search, pagination: { limit: 3 } },
      { search: { ...search, vector: [0, 1] }, filter, total: true, facets: [{ column: 'even' }] },
      { search, columns: ['name'], vectors: true, pagination: { limit: 2 } },
    ];
    const { status, body } = await post({ searches: requests });
    expect([status, body.failed]).toEqual([200, 0]);
    for (const [at, request] of requests.entries()) {
      const single = await service.call('POST', `${path}/search`, request);
      expect(body.pages[at]).toEqual({ status: 200, page: single.body });
    }
  });

  test('the problems of a search have pointers from its place, and leave the other searches', async () => {
    const rule = { column: 'even', operator: 'is', value: true };
    const { status, body } = await post({
      searches: [
        one,
        { search: { ...search, threshold: 2 } },
        { search, filter: { condition: 'AND', rules: [rule] } },
        7,
        { search: { vector: [1, 2, 3] } },
        { search, pagination: { cursor: 'x' } },
        one,
      ],
    });
    expect([status, body.failed]).toEqual([200, 5]);
    const found = body.pages.map(({ status, problem }: { status: number; problem?: never }) => {
      const { code, errors } = (problem ?? {}) as { code?: string; errors?: { pointer: string }[] };
      return [status, code, errors?.[0]?.pointer];
    });
    expect(found).toEqual([
      [200, undefined, undefined],
      [400, 'invalid_request', '/searches/1/search/threshold'],
      [400, 'invalid_filter', '/searches/2/filter/rules/0/operator'],
      [400, 'invalid_request', '/searches/3'],
      [400, 'invalid_dimensions', '/searches/4/search/vector'],
      [400, 'invalid_cursor', '/searches/5/pagination/cursor'],
      [200, undefined, undefined],
    ]);
    const [, threshold] = body.pages;
    expect(threshold.problem.detail).toMatch(/^\/searches\/1\/search\/threshold: /);
    expect(threshold.problem.status).toBe(400);
  });

  test.each([
    ['nothing', {}, ''],
    ['no list', { searches: {} }, '/searches'],
    ['no search', { searches: [] }, '/searches'],
    ['65 searches', { searches: Array(65).fill(one) }, '/searches'],
    ['another member', { searches: [one], limit: 3 }, '/limit'],
    ['a list', [one], ''],
  ])('a batch with %s is refused', async (_, batch, pointer) => {
    const { status, body } = await post(batch);
    expect([status, body.code, body.errors[0].pointer]).toEqual([400, 'invalid_request', pointer]);
  });

  test.each([
    ['', '{"searches":[{"search":{"vector":[1,0]}]}'],
    ['/searches/1', '{"searches":[{"search":{"vector":[1,0]}},{"search":{"vector":[1,0],"vector":[1,0]}}]}'],
    ['', '{"searches":[{"search":{"vector":[1,0]}},]}'],
    ['', '{"searches":[],"searches":[]}'],
    ['', '{"searches":["a]}'],
  ])('a batch that is not strict JSON is refused: %s', async (place, text) => {
    const { status, body } = await post(text);
    expect([status, body.code]).toEqual([400, 'invalid_json']);
    expect(body.errors[0].pointer.startsWith(place)).toBe(true);
  });

  test.each([
    ['{"searches":[{"search":{"vector":[1,2,3,4,5,6]}}]}x', 50],
    ['{"searches":[{"search":{}},{"search":x}]}', 37],
    ['{"searches":[ {"search":{}}, {"search":{}} ] "x"}', 45],
    ['{"other":{"é":[1,2]},"searches":[{"search":"é"},{}],"é":"é" é}', 64],
    ['{"searches":[{"search":{}},{"search":{', 38],
    ['{"searches":[{"search":{}},]}', 27],
  ])('the place of a JSON error is that in the body: %s', async (text, at) => {
    const { status, body } = await post(text);
    expect([status, body.code]).toEqual([400, 'invalid_json']);
    expect(body.detail).toMatch(new RegExp(`, at byte ${at}$`));
    expect(body.errors[0].detail).toMatch(new RegExp(`, at byte ${at}$`));
  });

  test('a batch is UTF-8', async () => {
    const text = Buffer.from('{"searches":[{"search":{"vector":[1,0]}}],"?":1}');
    text[text.indexOf('?')] = 0xff;
    const { status, body } = await post(text);
    expect([status, body.detail]).toEqual([400, 'invalid UTF-8, at byte 43']);
  });

  test('errors of a search speak of the search', async () => {
    const { body } = await post({ searches: [1, {}] });
    for (const { problem } of body.pages) expect(problem.detail).toMatch(/^\/searches\/[01]: the search /);
    const large = `{"searches":[${'{}'.padEnd(LIMITS.body_bytes + 1)}]}`;
    expect((await post(large)).body.detail).toMatch(/^\/searches\/0: the search is larger than /);
  });

  test('a batch has as many bytes as eight requests, and each search as many as one', async () => {
    const padded = (bytes: number) => JSON.stringify({ search: { vector: [1, 0] } }).padEnd(bytes);
    const batch = (sizes: number[]) => `{"searches":[${sizes.map(padded).join(',')}]}`;
    const most = searchesBytes(LIMITS);
    expect(most).toBe(8 << 20);
    const sizes = Array(64).fill(Math.floor(most / 64) - 2);
    const { status, body } = await post(batch(sizes).padEnd(most));
    expect([status, body.failed, body.pages.length]).toEqual([200, 0, 64]);
    expect((await post(batch(sizes).padEnd(most + 1))).status).toBe(413);
    expect((await post(batch([100, LIMITS.body_bytes]))).status).toBe(200);
    const refused = await post(batch([100, LIMITS.body_bytes + 1]));
    expect(refused.status).toBe(413);
    expect(refused.body.detail).toMatch(/^\/searches\/1: /);
  });

  test('the filter of a key holds for every search, and its actions for each', async () => {
    const rules = [{ column: 'even', operator: 'equals', value: true }];
    const { body: issued } = await service.call('POST', '/v1/keys', {
      name: 'even',
      actions: ['search'],
      databases: ['fan'],
      filter: { condition: 'AND', rules },
    });
    const key = { 'x-api-key': issued.key };
    const searches = [
      { search, total: true },
      { search, vectors: true },
    ];
    const { body } = await service.call('POST', `${path}/searches`, { searches }, key);
    expect(body.failed).toBe(1);
    expect(body.pages[0].page.total).toEqual({ value: 50 });
    expect(body.pages[1]).toMatchObject({ status: 403, problem: { code: 'forbidden', status: 403 } });
  });
});

test('a database that does not exist is a failure of the batch', async () => {
  for (const searches of [
    [one],
    [{ search: { vector: [1, 0], threshold: 2 } }],
    [{ search: { vector: [1] } }],
  ]) {
    const { status, body } = await service.call('POST', '/v1/databases/none/searches', { searches });
    expect([status, body.code]).toEqual([404, 'database_not_found']);
  }
});

/** A new key that may search the database `fan`. */
async function searchKeyOf(service: Service): Promise<string> {
  const request = { name: 'k', actions: ['search'], databases: ['fan'] };
  return (await service.call('POST', '/v1/keys', request)).body.key;
}

test('a batch counts as many requests as it has searches', async () => {
  const limited = await Service.start({ rateLimit: 100 });
  try {
    await limited.call('PUT', '/v1/databases/fan', { dimensions: 2 });
    const searchKey = await searchKeyOf(limited);
    const key = { 'x-api-key': searchKey };
    const send = (count: number) =>
      limited.call('POST', '/v1/databases/fan/searches', { searches: Array(count).fill(one) }, key);
    const first = await send(40);
    expect(first.status).toBe(200);
    expect(first.headers.get('ratelimit')).toMatch(/;r=60;/);
    const refused = await send(64);
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1);
    expect(Number(/;r=(\d+);/.exec(refused.headers.get('ratelimit')!)?.[1])).toBeGreaterThanOrEqual(60);
    expect((await send(30)).status).toBe(200);
  } finally {
    await limited.stop();
  }
});

test('a batch of more searches than may be under way takes all places of its key', async () => {
  const limited = await Service.start({ maxSearches: 8 });
  try {
    await limited.call('PUT', '/v1/databases/fan', { dimensions: 2 });
    const searchKey = await searchKeyOf(limited);
    for (const key of [searchKey, limited.adminKey]) {
      const searches = Array(9).fill(one);
      const headers = { 'x-api-key': key };
      const sent = await limited.call('POST', '/v1/databases/fan/searches', { searches }, headers);
      expect([sent.status, sent.body.failed]).toEqual([200, 0]);
    }
  } finally {
    await limited.stop();
  }
});
