import { expect, test } from 'vitest';
import { LIMITS } from '../../src/schema/index.js';
import { ClientThread } from './client-thread.js';
import { ran } from './longest-turn.js';
import { Service } from './service.js';

const DESCRIPTIONS = 32;

test('a description takes the event loop less time than to parse it', { timeout: 60_000 }, async () => {
  const service = await Service.start();
  const client = new ClientThread(service.url, service.adminKey);
  try {
    await service.call('PUT', '/v1/databases/wide', { dimensions: 2 });
    for (let at = 0; at < LIMITS.database_columns; at += 1_000) {
      const names = Array.from({ length: 1_000 }, (_, i) => `column ${at + i} `.padEnd(256, 'x'));
      const records = [
        { id: at + 1, data: Object.fromEntries(names.map((name) => [name, 1])), vector: [1, 0] },
      ];
      expect((await service.call('POST', '/v1/databases/wide/records', { records })).status).toBe(200);
    }
    const { text } = await service.call('GET', '/v1/databases/wide');
    const body = Buffer.from(text);
    const describe = async () => {
      const began = ran();
      expect(await client.send('GET', '/v1/databases/wide', undefined, DESCRIPTIONS)).toBe(200);
      return ran() - began;
    };
    const parse = () => {
      const began = ran();
      for (let i = 0; i < DESCRIPTIONS; i += 1) JSON.parse(body.toString());
      return ran() - began;
    };
    let described = Number.POSITIVE_INFINITY;
    let parsed = Number.POSITIVE_INFINITY;
    for (let tries = 0; tries < 3; tries += 1) {
      described = Math.min(described, await describe());
      parsed = Math.min(parsed, parse());
    }
    console.log(
      `${DESCRIPTIONS} descriptions: ${described.toFixed(0)} ms; to parse them: ${parsed.toFixed(0)} ms`,
    );
    expect(described).toBeLessThan(parsed);
  } finally {
    await client.close();
    await service.stop();
  }
});
