import { afterEach, beforeEach, expect, test } from 'vitest';
import { fan, Service } from './service.js';

const EVENTS = { accept: 'text/event-stream' };

let service: Service;
beforeEach(async () => {
  service = await Service.start({}, { timeouts: { heartbeatMs: 20 } });
  await service.call('PUT', '/v1/databases/fan', { dimensions: 2 });
});
afterEach(() => service.stop());

interface Event {
  id: string;
  data?: { kind: string; id: number; position: number };
}

/** The events of a response, until it ends. */
async function* eventsOf({ body }: Response): AsyncGenerator<Event> {
  let text = '';
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const blocks = (text + chunk).split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const lines = block.split('\n').map((line) => line.split(/: (.*)/s) as [string, string]);
      const { id = '', data } = Object.fromEntries(lines);
      yield { id, ...(data !== undefined && { data: JSON.parse(data) }) };
    }
  }
}

const open = (query = '', headers: Record<string, string> = {}) =>
  fetch(`${service.url}/v1/databases/fan/changes${query}`, {
    headers: { 'x-api-key': service.adminKey, ...EVENTS, ...headers },
  });

/** Reads events until `count` changes have come. */
async function changesOf(events: AsyncGenerator<Event>, count: number): Promise<Event[]> {
  const found: Event[] = [];
  while (found.length < count) {
    const { value, done } = await events.next();
    if (done) throw new Error(`the stream ended after ${found.length} changes`);
    if (value.data !== undefined) found.push(value);
  }
  return found;
}

const put = (from: number, to: number) =>
  service.call('POST', '/v1/databases/fan/records', { records: fan(to).slice(from - 1) });

test('changes come as events, those of the past first, each once over any number of connections', async () => {
  await put(1, 250);
  const response = await open();
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  expect(response.headers.get('vary')).toContain('accept');
  const events = eventsOf(response);
  const past = await changesOf(events, 250);
  expect(past.map(({ data }) => data?.id)).toEqual(Array.from({ length: 250 }, (_, i) => i + 1));
  await put(251, 253);
  const seen = [...past, ...(await changesOf(events, 3))];
  await events.return(undefined);

  for (let last = 254; last < 264; last += 2) {
    await put(last, last + 1);
    const id = seen.at(-1)?.id ?? '';
    // The header wins over the query, which a browser repeats when it connects again.
    const again = eventsOf(await open('?after=0', { 'last-event-id': id }));
    seen.push(...(await changesOf(again, 2)));
    await again.return(undefined);
  }
  expect(seen.map(({ data }) => data?.id)).toEqual(Array.from({ length: 263 }, (_, i) => i + 1));
  const { epoch } = (await service.call('GET', '/v1/databases/fan/changes')).body;
  for (const { id, data } of seen) expect(id).toBe(`${epoch}:${data?.position}`);
});

test('events without data tell that the stream lives, and move on over what the filter of a key hides', async () => {
  const filter = { condition: 'AND', rules: [{ column: 'group', operator: 'equals', value: 'none' }] };
  const issued = await service.call('POST', '/v1/keys', {
    name: 'none',
    actions: ['records.read'],
    databases: ['fan'],
    filter,
  });
  const events = eventsOf(await open('', { 'x-api-key': issued.body.key }));
  const first = (await events.next()).value as Event;
  expect(first).toEqual({ id: expect.stringMatching(/^[0-9a-f]{32}:0$/) });
  await put(1, 5);
  for await (const event of events) {
    expect(event).not.toHaveProperty('data');
    if (event.id.endsWith(':5')) break;
  }
});

test('a stream ends when the server stops', async () => {
  await put(1, 1);
  const events = eventsOf(await open());
  await changesOf(events, 1);
  const left = drained(events);
  await service.running.close();
  expect((await left).every(({ data }) => data === undefined)).toBe(true);
});

async function drained(events: AsyncGenerator<Event>): Promise<Event[]> {
  const all: Event[] = [];
  for await (const event of events) all.push(event);
  return all;
}

test('a stream ends when its key is revoked or its database is dropped', async () => {
  const { key, id } = (await service.call('POST', '/v1/keys', { name: 'r', actions: ['records.read'] })).body;
  const ofKey = eventsOf(await open('', { 'x-api-key': key }));
  await ofKey.next();
  await service.call('DELETE', `/v1/keys/${id}`);
  await put(1, 1);
  await expect(changesOf(ofKey, 1)).rejects.toThrow();

  const events = eventsOf(await open());
  await changesOf(events, 1);
  await service.call('DELETE', '/v1/databases/fan');
  await expect(changesOf(events, 1)).rejects.toThrow();
});

test('what is wrong is refused before a stream begins', async () => {
  await put(1, 3);
  const refused = async (query: string, headers: Record<string, string> = {}) => {
    const response = await open(query, headers);
    return [response.status, ((await response.json()) as { code: string }).code];
  };
  const { epoch } = (await service.call('GET', '/v1/databases/fan/changes')).body;
  const other = 'f'.repeat(32);
  expect(await refused(`?epoch=${other}`)).toEqual([410, 'feed_restarted']);
  expect(await refused('', { 'last-event-id': `${other}:1` })).toEqual([410, 'feed_restarted']);
  for (const id of [
    '',
    '1',
    epoch,
    `${epoch}:`,
    `${epoch}:x`,
    `${epoch}:-1`,
    `${epoch}:1:1`,
    `${epoch}:99999999999999999`,
  ]) {
    expect(await refused('', { 'last-event-id': id }), id).toEqual([400, 'invalid_request']);
  }
  for (const query of ['?limit=5', '?wait=5', '?after=x']) {
    expect(await refused(query), query).toEqual([400, 'invalid_request']);
  }
  const json = [
    'application/json, */*',
    'text/event-stream;q=0',
    'application/json, text/event-stream;q=0.1',
  ];
  for (const accept of json) {
    expect((await open('', { accept })).headers.get('content-type'), accept).toContain('json');
  }
});
