import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { inFull } from '../helpers/full.js';
import { LINES_TYPE, Service } from '../server/service.js';
import { Agent, ERAS } from './agent.js';

const FACTS = readFileSync('demo/facts.ndjson', 'utf8').trimEnd().split('\n').slice(0, inFull(331, 100));
const WITH_YEAR = FACTS.filter((line) => JSON.parse(line).data.year !== undefined).length;

let service: Service;

beforeAll(async () => {
  service = await Service.start({ mcpWrite: true });
  await service.call('PUT', '/v1/databases/facts');
  await service.call('PUT', '/v1/databases/notes');
  await service.call('POST', '/v1/databases/facts/records', FACTS.join('\n'), LINES_TYPE);
});
afterAll(() => service.stop());

describe.each(ERAS)('%s protocol', (era) => {
  const connect = () => Agent.overHttp(service, service.adminKey, era);

  test('the tools say what they do, and those that write come last', async () => {
    const { client } = await connect();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'list_databases',
      'search',
      'query',
      'get',
      'upsert',
      'delete',
    ]);
    for (const { name, description, inputSchema, outputSchema, annotations } of tools) {
      const writes = name === 'upsert' || name === 'delete';
      expect(description).toMatch(/\.$/);
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(outputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(annotations).toMatchObject({
        readOnlyHint: !writes,
        destructiveHint: writes,
        openWorldHint: false,
      });
    }
    expect(JSON.stringify(tools).length).toBeLessThan(13_000);
    expect(client.getInstructions()).toContain('list_databases');
  });

  test('databases are listed with columns, types and counts', async () => {
    const agent = await connect();
    const { structured } = await agent.call('list_databases', {});
    expect(structured.databases.map(({ id }: { id: string }) => id)).toEqual(['facts', 'notes']);
    expect(structured.databases[0].records).toBe(FACTS.length);
    const year = structured.databases[0].columns.find(({ name }: { name: string }) => name === 'year');
    expect(year).toMatchObject({ types: expect.arrayContaining(['number']), records: WITH_YEAR });
    expect((await agent.call('list_databases', { database: 'notes' })).structured.databases).toEqual([
      { id: 'notes', records: 0, columns: [] },
    ]);
  });

  test('a search has the results of the service, with the exact total', async () => {
    const agent = await connect();
    const { text, structured } = await agent.call('search', {
      database: 'facts',
      query: 'a tall tower',
      where: "year < 1950 and country != 'Italy'",
      columns: ['name', 'year'],
      limit: 2,
      threshold: 0.25,
    });
    const { body } = await service.call('POST', '/v1/databases/facts/search', {
      search: { text: 'a tall tower', threshold: 0.25 },
      filter: {
        rules: [
          { column: 'year', operator: 'less_than', value: 1950 },
          { column: 'country', operator: 'not_equals', value: 'Italy' },
        ],
      },
      columns: ['name', 'year'],
      pagination: { limit: 2 },
      total: true,
    });
    const shown = body.results.map(({ id, relevance_score, data }: Record<string, unknown>) => {
      return { id, relevance_score, data };
    });
    expect(structured).toMatchObject({ results: shown, total: body.total.value });
    expect(structured.next_cursor).toBeDefined();
    for (const record of shown) expect(text).toContain(`\n${JSON.stringify(record)}\n`);
  });

  test('pages follow each other without a gap', async () => {
    const agent = await connect();
    const ids: number[] = [];
    let cursor: string | undefined;
    do {
      const { structured } = await agent.call('search', {
        database: 'facts',
        query: 'war',
        threshold: 0.1,
        limit: 7,
        ...(cursor !== undefined && { cursor }),
      });
      ids.push(...structured.results.map(({ id }: { id: number }) => id));
      cursor = structured.next_cursor;
      if (cursor === undefined) expect(ids).toHaveLength(structured.total);
    } while (cursor !== undefined);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(7);
  });

  test('a query sorts and counts', async () => {
    const agent = await connect();
    const { structured } = await agent.call('query', {
      database: 'facts',
      where: "kind = 'landmark'",
      sort: { column: 'height_m', direction: 'desc' },
      columns: ['height_m'],
      count_by: ['country'],
      limit: 3,
    });
    const heights = structured.results.map(({ data }: { data: { height_m: number } }) => data.height_m);
    expect(heights).toEqual([...heights].sort((a, b) => b - a));
    expect(structured.counts[0]).toMatchObject({ column: 'country', values: expect.any(Array) });
  });

  test('records are read, written and deleted', async () => {
    const agent = await connect();
    const written = await agent.call('upsert', {
      database: 'notes',
      records: [{ key: 'a', data: { text: 'The boiler was serviced in May' } }, { data: { text: 'Milk' } }],
    });
    expect(written.structured).toMatchObject({ created: 2, changed: 0, unchanged: 0 });
    const [first, second] = written.structured.ids;
    const read = await agent.call('get', { database: 'notes', ids: ['key:a', second, 999] });
    expect(read.structured).toMatchObject({
      results: [
        { id: first, key: 'a', data: { text: 'The boiler was serviced in May' } },
        { id: second, data: { text: 'Milk' } },
      ],
      missing: [999],
    });
    const found = await agent.call('search', { database: 'notes', query: 'heating', threshold: 0 });
    expect(found.structured.results[0].id).toBe(first);
    const { structured } = await agent.call('delete', { database: 'notes', ids: [first, second] });
    expect(structured.deleted).toBe(2);
  });
});

test('an error names the argument and what was expected', async () => {
  const agent = await Agent.overHttp(service, service.adminKey);
  const errorOf = async (name: string, given: Record<string, unknown>) => {
    const { text, isError } = await agent.call(name, given);
    expect(isError).toBe(true);
    return text;
  };
  const search = (given: object) => errorOf('search', { database: 'facts', query: 'x', ...given });
  expect(await search({ limit: 1000 })).toContain('limit: is 1000, must be from 1 to 50');
  expect(await search({ querry: 'x' })).toContain('querry: is not a known member; did you mean "query"?');
  expect(await search({ where: 'year << 3' })).toMatch(/where: << is not[\s\S]*\^/);
  expect(await search({ where: "year > '3'" })).toContain('where: a number such as 0.5 is expected after >');
  expect(await search({ where: '{"rules":[{"column":"year","operator":"is","value":1}]}' })).toMatch(
    /^where.*operator: /,
  );
  expect(await search({ cursor: 'nonsense' })).toMatch(/cursor.*`next_cursor` of the result before/s);
  expect(await search({ database: 'fact' })).toContain('there is no database "fact"; list_databases shows');
  expect(await errorOf('query', { database: 'facts', sort: {} })).toContain('sort: must have exactly one of');
  expect(await errorOf('get', { database: 'facts', ids: ['x'] })).toContain('ids/0');
  expect(await errorOf('upsert', { database: 'facts', records: [{ data: { a: { b: 1 } } }] })).toContain(
    'records/0/data/a',
  );
});

test('a misspelt column is pointed out', async () => {
  const agent = await Agent.overHttp(service, service.adminKey);
  const { structured } = await agent.call('query', { database: 'facts', where: "contry = 'France'" });
  expect(structured.total).toBe(0);
  expect(structured.warnings).toEqual(['no record has a column "contry"; did you mean "country"?']);
});

test('a call leaves no timer that waits for the bodies of the requests it made', async () => {
  const agent = await Agent.overHttp(service, service.adminKey, ERAS[0]!);
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    await agent.call('list_databases', {});
    await expect.poll(() => vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
