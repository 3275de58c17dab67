import { expect, test } from 'vitest';
import { Raw, request } from './raw.js';
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
    // Requests that follow each other on a connection arrive together.
    const connections = Array.from({ length: 16 }, () => new Raw(service));
    await Promise.all(connections.map((connection) => connection.connected()));
    for (const { socket } of connections) socket.write(request(a.key, 'GET', '/metrics').repeat(25));
    const headers = { 'x-api-key': b.key };
    expect((await fetch(`${service.url}/metrics`, { headers })).status).toBe(200);
    const statuses = () =>
      connections.flatMap(({ received }) => received.match(/(?<=HTTP\/1\.1 )\d+/g) ?? []);
    expect(statuses().length).toBeLessThan(390);
    await expect.poll(() => statuses().length).toBe(400);
    expect(new Set(statuses())).toEqual(new Set(['200', '503']));
    for (const { socket } of connections) socket.destroy();
  } finally {
    await service.stop();
  }
});
