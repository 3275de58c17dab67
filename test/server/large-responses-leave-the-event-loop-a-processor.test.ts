import { createHook } from 'node:async_hooks';
import { get } from 'node:http';
import { availableParallelism } from 'node:os';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Service } from './service.js';

const RESPONSES = 16;

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await service.call('PUT', '/v1/databases/wide', { dimensions: 2 });
  const data = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`column ${i}`, i]));
  await service.call('POST', '/v1/databases/wide/records', { records: [{ id: 1, data, vector: [1, 0] }] });
});
afterAll(() => service.stop());

/** Bytes of the body of a response, as sent. */
const sizeOf = (coding: string) =>
  new Promise<number>((resolve, reject) => {
    const headers = { 'x-api-key': service.adminKey, 'accept-encoding': coding };
    get(`${service.url}/v1/databases/wide`, { headers }, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => (bytes += chunk.length)).on('end', () => resolve(bytes));
      expect(response.headers['content-encoding']).toBe(coding);
    }).on('error', reject);
  });

test.each(['br', 'gzip'])(
  'responses with %s are compressed by fewer threads than there are processors',
  async (coding) => {
    const alone = await sizeOf(coding);
    const running = new Set<number>();
    let most = 0;
    const hook = createHook({
      init: (id, type) => {
        if (type === 'ZLIB') most = Math.max(most, running.add(id).size);
      },
      after: (id) => running.delete(id),
    }).enable();
    const sizes = await Promise.all(Array.from({ length: RESPONSES }, () => sizeOf(coding)));
    hook.disable();
    // What is described may change once meanwhile.
    const whole = [alone, await sizeOf(coding)];
    expect(sizes.filter((size) => !whole.includes(size))).toEqual([]);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(Math.max(1, availableParallelism() - 1));
  },
);
