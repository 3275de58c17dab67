import { afterAll, beforeAll, expect, test } from 'vitest';
import { Service } from '../server/service.js';
import { Agent, ERAS } from './agent.js';

let service: Service;

beforeAll(async () => {
  service = await Service.start({ mcpWrite: true });
  for (const id of ['ours', 'theirs']) {
    await service.call('PUT', `/v1/databases/${id}`);
    await service.call('POST', `/v1/databases/${id}/records`, {
      records: [
        { id: 1, data: { team: 'red', text: 'The red team meets in room one' } },
        { id: 2, data: { team: 'blue', text: 'The blue team meets in room two', secret: true } },
      ],
    });
  }
});
afterAll(() => service.stop());

async function keyWith(settings: object): Promise<string> {
  const name = 'agent';
  return (await service.call('POST', '/v1/keys', { name, databases: ['ours'], ...settings })).body.key;
}

const RED = { condition: 'AND', rules: [{ column: 'team', operator: 'equals', value: 'red' }] };

test.each(ERAS)('%s: a key with a filter sees nothing outside of it', async (era) => {
  const key = await keyWith({ actions: ['search', 'records.read'], filter: RED });
  const agent = await Agent.overHttp(service, key, era);
  expect(await agent.tools()).toEqual(['list_databases', 'search', 'query', 'get']);
  const results = await Promise.all([
    agent.call('list_databases', {}),
    agent.call('search', { database: 'ours', query: 'where does the blue team meet?', threshold: 0 }),
    agent.call('query', { database: 'ours', count_by: ['team'] }),
    agent.call('get', { database: 'ours', ids: [1, 2] }),
  ]);
  for (const { text, structured } of results) {
    expect(text + JSON.stringify(structured)).not.toMatch(/two|secret|theirs/);
  }
  const [listed, found, queried, read] = results.map(({ structured }) => structured);
  expect(listed.databases).toEqual([
    {
      id: 'ours',
      records: 1,
      columns: [
        { name: 'team', types: ['string'] },
        { name: 'text', types: ['string'] },
      ],
    },
  ]);
  expect([found.total, queried.total, read.missing]).toEqual([1, 1, [2]]);
  for (const call of [
    agent.call('search', { database: 'theirs', query: 'team' }),
    agent.call('query', { database: 'theirs' }),
    agent.call('get', { database: 'theirs', ids: [1] }),
    agent.call('list_databases', { database: 'theirs' }),
  ]) {
    const { text, isError } = await call;
    expect([isError, text]).toEqual([true, expect.stringContaining('there is no database "theirs"')]);
  }
});

test('a key that may only search sees its databases, and has no tool for more', async () => {
  const agent = await Agent.overHttp(service, await keyWith({ actions: ['search'] }));
  const { structured } = await agent.call('list_databases', {});
  expect(structured.databases).toMatchObject([{ id: 'ours', records: 2 }]);
  expect(await agent.tools()).toEqual(['list_databases', 'search', 'query']);
  expect(agent.client.getInstructions()).not.toMatch(/\bget\b/);
  const data = { text: 'long '.repeat(3_000) };
  await service.call('POST', '/v1/databases/ours/records', { records: [{ id: 9, data }] });
  const { structured: cut } = await agent.call('query', { database: 'ours' });
  await service.call('DELETE', '/v1/databases/ours/records/9');
  expect(cut.notes.join()).toMatch(/values are cut/);
  expect(cut.notes.join()).not.toContain('`get`');
  const any = await Agent.overHttp(service, await keyWith({ actions: ['search'], databases: '*' }));
  expect((await any.call('list_databases', {})).text).toContain('take the id of a database');
});

test('there are tools that write only where the service and the key allow them', async () => {
  const key = await keyWith({ actions: ['records.write', 'search'] });
  expect(await (await Agent.overHttp(service, key)).tools()).toContain('delete');
  const reading = await Service.start();
  try {
    const agent = await Agent.overHttp(reading, reading.adminKey);
    expect(await agent.tools()).not.toContain('upsert');
    const call = agent.client.callTool({ name: 'upsert', arguments: { database: 'ours', records: [] } });
    await expect(call).rejects.toThrow('upsert');
  } finally {
    await reading.stop();
  }
});

test('without a valid key there is nothing', async () => {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  for (const key of ['', 'cosift_nonsense']) {
    expect((await service.call('POST', '/mcp', message, { 'x-api-key': key })).status).toBe(401);
  }
});
