import { expect, test } from 'vitest';
import { fan, Service } from './service.js';

/** Names that mean something to emitters and to plain objects. */
const NAMES = ['error', 'constructor', '__proto__', 'prototype', 'hasownproperty', 'then'];

test('also one that an emitter or an object treats in its own way', async () => {
  const service = await Service.start();
  try {
    for (const name of NAMES) {
      const database = `/v1/databases/${name}`;
      expect((await service.call('PUT', database, { dimensions: 2 })).status, name).toBe(201);
      const waiting = service.call('GET', `${database}/changes?wait=30`);
      const written = await service.call('POST', `${database}/records`, { records: fan(3) });
      expect(written.status, written.text).toBe(200);
      expect((await waiting).body.changes.length).toBeGreaterThan(0);
      const lines = await service.call('POST', `${database}/records`, '{"id":9,"data":{},"vector":[1,0]}\n', {
        'content-type': 'application/x-ndjson',
      });
      expect(lines.text).toContain('"summary"');
      const deleted = await service.call('POST', `${database}/records/delete`, { ids: [1] });
      expect(deleted.body).toEqual({ deleted: 1 });
      const { body: key } = await service.call('POST', '/v1/keys', {
        name,
        actions: ['search'],
        databases: [name],
      });
      const search = { search: { vector: [1, 0], threshold: 0 } };
      const found = await service.call('POST', `${database}/search`, search, { 'x-api-key': key.key });
      expect(found.body.results).toHaveLength(3);
      expect((await service.call('GET', '/metrics')).text).toContain(`"${name}"`);
    }
    const { body } = await service.call('GET', '/v1/databases');
    expect(body.databases.map(({ id }: { id: string }) => id).sort()).toEqual([...NAMES].sort());
    for (const name of NAMES) {
      expect((await service.call('DELETE', `/v1/databases/${name}`)).status).toBe(204);
    }
  } finally {
    await service.stop();
  }
});
