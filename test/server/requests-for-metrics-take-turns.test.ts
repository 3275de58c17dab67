import { expect, test } from 'vitest';
import { Service } from './service.js';

test('a key that asks for the metrics often does not put off other keys', async () => {
  const service = await Service.start();
  try {
    await service.call('PUT', '/v1/databases/one', { dimensions: 2 });
    // The metrics of some databases are selected for each request; those of all are the same for everybody.
    const issue = async () => {
      const wanted = { name: 'one', actions: ['databases.manage'], databases: ['one'] };
      return (await service.call('POST', '/v1/keys', wanted)).body;
    };
    const [a, b] = [await issue(), await issue()];
    const ended: string[] = [];
    const ask = async ({ key, key_id }: { key: string; key_id: string }) => {
      const headers = { 'x-api-key': key };
      const { status } = await fetch(`${service.url}/metrics`, { headers });
      if (status === 200) ended.push(key_id);
      return status;
    };
    const statuses = Promise.all(Array.from({ length: 100 }, () => ask(a)));
    expect(await ask(b)).toBe(200);
    const refused = (await statuses).filter((status) => status === 503).length;
    expect(refused).toBeGreaterThan(0);
    expect(ended).toHaveLength(101 - refused);
    expect(ended.indexOf(b.key_id)).toBeLessThan(ended.length - 10);
  } finally {
    await service.stop();
  }
});
