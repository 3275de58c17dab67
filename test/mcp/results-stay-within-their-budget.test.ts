import { afterAll, beforeAll, expect, test } from 'vitest';
import { sizeOf } from '../../src/agents/excerpt.js';
import { BUDGET, haveMore, shownRecords } from '../../src/agents/shown-records.js';
import { inFull } from '../helpers/full.js';
import { Random } from '../helpers/random.js';
import { LINES_TYPE, Service } from '../server/service.js';
import { Agent } from './agent.js';

const TIMES = {
  created_at: '2026-01-01T00:00:00Z',
  changed_at: '2026-01-01T00:00:00Z',
  synced_at: '2026-01-01T00:00:00Z',
};

const record = (id: number, data: Record<string, unknown>) =>
  ({ id, uuid: '00000000-0000-4000-8000-000000000000', data, timestamps: TIMES }) as never;

test('records of any shape fit, and what is cut is told', () => {
  const shapes = [
    { text: 'x'.repeat(1_000_000) },
    { text: '\u0000"\\'.repeat(10_000) },
    { text: '😀'.repeat(50_000), name: 'kept' },
    Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`column ${i}`, i])),
    { ['c'.repeat(256)]: 'y'.repeat(9_000), list: Array(1_000).fill('element') },
    { list: ['z'.repeat(100_000)] },
    {},
  ];
  for (const count of [1, 2, 10, 50]) {
    for (const data of shapes) {
      const shown = shownRecords(Array.from({ length: count }, (_, i) => record(i + 1, data)));
      expect(shown).toHaveLength(count);
      expect(sizeOf(shown)).toBeLessThanOrEqual(BUDGET + 2 * count);
      const isWhole = sizeOf(shown[0]?.data) === sizeOf(data);
      expect(isWhole).toBe(shown[0]?.cut === undefined && shown[0]?.left_out === undefined);
    }
  }
});

test.each([
  ['a text', Array.from({ length: 4_000 }, (_, i) => `word${i}`).join(' ')],
  ['a text of surrogate pairs', `a${'😀'.repeat(9_000)}`],
  ['a list', Array.from({ length: 2_000 }, (_, i) => `"element" ${i} 😀`)],
  ['a list of one text', ['😀'.repeat(9_000)]],
])('%s that is cut is read to its end by its parts', (_, value) => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  let read = '';
  for (let hasMore = true; hasMore; ) {
    const shown = shownRecords([record(1, { value })], { start: read.length });
    const part = shown[0]?.data.value as string;
    const cut = { column: 'value', start: read.length, shown: part.length, of: text.length };
    expect(shown[0]?.cut).toEqual([cut]);
    read += part;
    hasMore = haveMore(shown);
    expect(hasMore).toBe(read.length < text.length);
  }
  expect(read).toBe(text);
});

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.stop());

const CALLS = 50;
const LONG = inFull(300, 60);
const COPIES = inFull(10, 4);
/** A character is at most a token of common texts. */
const MAX_RESULT = 25_000;

test('a session of 50 calls on long records stays below 25,000 tokens a result', async () => {
  const random = new Random(7);
  const word = () =>
    Array.from({ length: 2 + random.below(8) }, () => String.fromCharCode(97 + random.below(26))).join('');
  const text = (words: number) => Array.from({ length: words }, word).join(' ');
  await service.call('PUT', '/v1/databases/long', { embed: { columns: ['title'] } });
  const lines = Array.from({ length: LONG }, (_, i) => {
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, c) => [`column_${c}`, text(8)]));
    return JSON.stringify({
      id: i + 1,
      data: { title: `the house number ${i}`, body: text(3_000), ...many },
    });
  });
  await service.call('POST', '/v1/databases/long/records', lines.join('\n'), LINES_TYPE);
  const agent = await Agent.overHttp(service, service.adminKey);
  const given = { database: 'long' };
  for (let at = 0; at < CALLS; at++) {
    const calls: [string, object][] = [
      ['list_databases', {}],
      ['search', { ...given, query: 'a house', limit: 1 + random.below(50), threshold: 0 }],
      ['query', { ...given, limit: 50, count_by: ['body', 'title'] }],
      ['get', { ...given, ids: Array.from({ length: 20 }, (_, i) => i + 1) }],
    ];
    const [name, args] = calls[at % calls.length] as [string, Record<string, unknown>];
    const { text, structured, isError } = await agent.call(name, args);
    expect(isError, text).toBe(false);
    expect(text.length + JSON.stringify(structured).length).toBeLessThan(MAX_RESULT);
  }
});

test('warnings, counts and keys take their room from the records', async () => {
  await service.call('PUT', '/v1/databases/quoted');
  const names = ['a', 'b', 'c', 'd', 'e'].map((name) => '"'.repeat(200) + name);
  const records = Array.from({ length: 50 }, (_, i) => ({
    key: '\\'.repeat(95) + i,
    data: Object.fromEntries(names.map((name) => [name, '\u0001'.repeat(59) + i])),
  }));
  const stored = await service.call('POST', '/v1/databases/quoted/records', { records });
  expect(stored.status).toBe(200);
  const agent = await Agent.overHttp(service, service.adminKey);
  const unknown = Array.from({ length: 100 }, (_, i) => `unknown ${i} ${'"'.repeat(200)}`);
  const given = { database: 'quoted', limit: 50 };
  for (const more of [
    {},
    { count_by: names },
    { columns: unknown },
    { count_by: names, columns: [...names, ...unknown.slice(5)] },
    {
      where: unknown
        .slice(0, 20)
        .map((_, i) => `unknown${i} is empty`)
        .join(' and '),
    },
  ]) {
    const { text, structured, isError } = await agent.call('query', { ...given, ...more });
    expect(isError, text).toBe(false);
    expect(structured.results).toHaveLength(50);
    expect(text.length).toBeLessThan(BUDGET + 1_000);
    expect(JSON.stringify(structured).length).toBeLessThan(BUDGET + 1_000);
  }
});

test('many databases are listed by their ids, and one of them with more', async () => {
  for (let at = 0; at < 90; at++) await service.call('PUT', `/v1/databases/many-${at}`, { dimensions: 2 });
  const agent = await Agent.overHttp(service, service.adminKey);
  const { text, structured } = await agent.call('list_databases', {});
  expect(text.length).toBeLessThan(BUDGET + 500);
  expect(structured.databases.length + structured.left_out).toBeGreaterThanOrEqual(91);
  const long = { columns: [], id: 'long', left_out: 62, records: LONG };
  expect(structured.databases[0]).toEqual(long);
  const { structured: one } = await agent.call('list_databases', { database: 'long' });
  expect(one.databases[0].columns).toHaveLength(62);
});

test('of a long text, the passage that matches best is shown', async () => {
  await service.call('PUT', '/v1/databases/books');
  const filler = 'The committee approved the minutes of the last meeting without any change. ';
  const text = `${filler.repeat(80)}A volcano erupted and covered the village with ash. ${filler.repeat(80)}`;
  await service.call('POST', '/v1/databases/books/records', {
    records: Array.from({ length: COPIES }, (_, i) => ({ id: i + 1, data: { text } })),
  });
  const agent = await Agent.overHttp(service, service.adminKey);
  const { structured } = await agent.call('search', { database: 'books', query: 'eruption of a volcano' });
  expect(structured.results).toHaveLength(COPIES);
  for (const { data, cut } of structured.results) {
    expect(data.text).toContain('volcano erupted');
    expect(cut).toEqual([
      { column: 'text', start: text.indexOf(data.text), shown: data.text.length, of: text.length },
    ]);
  }
  expect(structured.notes.join()).toContain('`get`');
});
