import { expect, test } from 'vitest';
import { Service } from './service.js';

test('a database has a limit of webhooks, and others still get theirs', async () => {
  const service = await Service.start({ webhookAllow: ['127.0.0.1'] });
  try {
    const make = async (database: string) => {
      const url = 'http://127.0.0.1:9/';
      return (await service.call('POST', `/v1/databases/${database}/webhooks`, { url })).status;
    };
    for (const database of ['one', 'two'])
      await service.call('PUT', `/v1/databases/${database}`, { dimensions: 2 });
    for (let i = 0; i < 75; i++) expect(await make('one')).toBe(201);
    expect(await make('one')).toBe(503);
    expect(await make('two')).toBe(201);
  } finally {
    await service.stop();
  }
});
