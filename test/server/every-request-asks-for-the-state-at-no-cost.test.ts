import { afterEach, expect, test } from 'vitest';
import { fan, Service } from './service.js';

const services: Service[] = [];
afterEach(async () => {
  for (const service of services.splice(0)) await service.stop();
});

test('a request does not look at every database to learn whether the service is ready', async () => {
  const service = await Service.start();
  services.push(service);
  await service.call('PUT', '/v1/databases/fan', { dimensions: 2 });
  await service.call('POST', '/v1/databases/fan/records', { records: fan(20) });
  const { monitor } = service.running.databases;
  // The walk over all blocks of all databases.
  let walks = 0;
  const states = monitor.states.bind(monitor);
  monitor.states = () => {
    walks += 1;
    return states();
  };
  const stats = monitor.stats.bind(monitor);
  monitor.stats = () => {
    walks += 1;
    return stats();
  };
  for (let i = 0; i < 3; i++) {
    const search = { search: { vector: [1, 0] } };
    expect((await service.call('POST', '/v1/databases/fan/search', search)).status).toBe(200);
    expect((await service.call('GET', '/v1/databases/fan/records/1')).status).toBe(200);
  }
  expect(walks).toBe(0);
  expect((await service.call('GET', '/readyz')).status).toBe(200);
  expect(walks).toBe(1);
});
