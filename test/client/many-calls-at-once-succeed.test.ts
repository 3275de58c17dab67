import process from 'node:process';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Client } from '../../src/client/index.js';
import { inFull } from '../helpers/full.js';
import { fan, Service } from '../server/service.js';

/** Requests that a client has sent and that have no response yet, in their order. */
class Held {
  readonly requests: {
    path: string;
    answer: (response: Response) => void;
    reject: (error: unknown) => void;
  }[] = [];

  readonly client = new Client({
    url: 'http://127.0.0.1:1',
    key: 'k',
    fetch: (input, init) =>
      new Promise((answer, reject) => {
        const path = new URL(String(input)).pathname.replace('/v1/databases/', '');
        this.requests.push({ path, answer, reject });
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
      }),
  });

  /** Answers the first `count` requests, and lets the calls behind them continue. Returns their paths. */
  async answer(count: number, body: object = PAGE): Promise<string[]> {
    const answered = this.requests.splice(0, count);
    for (const { answer } of answered) answer(Response.json(body));
    await settled();
    return answered.map(({ path }) => path);
  }
}

const PAGE = { results: [], pagination: { has_more: false } };
const BATCH = { results: [], created: 0, changed: 0, unchanged: 0, started_at: '2026-01-01T00:00:00.000Z' };

/** Everything that does not wait for a response has happened. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await setImmediate();
}

/** How many calls ended in which way. */
async function outcomes(calls: readonly Promise<unknown>[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const outcome of await Promise.allSettled(calls)) {
    const name = outcome.status === 'fulfilled' ? 'ok' : String(outcome.reason.code ?? outcome.reason);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

const times = <T>(count: number, call: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => call(at));

/** Calls at once. */
const [CALLS, READS, WRITES] = [inFull(5_000, 500), inFull(1_500, 150), inFull(600, 40)];

test('thousands of searches and reads, and hundreds of writes', async () => {
  const service = await Service.start();
  const client = new Client({ url: service.url, key: service.adminKey });
  const fans = await client.createDatabase('fans', { dimensions: 2 });
  await fans.upsert(fan(10));
  const search = () => fans.search({ vector: [1, 0] });
  expect(await outcomes(times(READS, search))).toEqual({ ok: READS });
  // One signal for all: it must not be reported as leaking listeners.
  const warnings: string[] = [];
  const warn = ({ message }: Error) => warnings.push(message);
  process.on('warning', warn);
  const { signal } = new AbortController();
  const aborted = () => fans.search({ vector: [1, 0] }, { signal });
  expect(await outcomes(times(CALLS, aborted))).toEqual({ ok: CALLS });
  process.off('warning', warn);
  expect(warnings).toEqual([]);
  expect(await outcomes(times(READS, () => fans.get(1)))).toEqual({ ok: READS });
  expect(await outcomes(times(WRITES, (at) => fans.patch(1, { size: at })))).toEqual({ ok: WRITES });
  expect(await outcomes(times(WRITES, () => fans.upsert(fan(1))))).toEqual({ ok: WRITES });
  await client.close();
  await service.stop();
});

test('a service with few places for searches', async () => {
  const service = await Service.start({ maxSearches: 4 });
  const client = new Client({ url: service.url, key: service.adminKey });
  const fans = await client.createDatabase('fans', { dimensions: 2 });
  await fans.upsert(fan(10));
  const search = () => fans.search({ vector: [1, 0] });
  const calls = inFull(100, 30);
  expect(await outcomes(times(calls, search))).toEqual({ ok: calls });
  await client.close();
  await service.stop();
});

/** A record as a service shows it. */
const RECORD = { id: 1, uuid: '0190a0b2-7c3d-7abc-8def-0123456789ab', data: {} };

test('64 reads and 8 writes of records are under way, the others follow in their order', async () => {
  const held = new Held();
  const database = held.client.database('a');
  const reads = times(200, (at) => database.get(at + 1));
  const writes = times(20, (at) => database.patch(at + 1, {}));
  await settled();
  expect(held.requests).toHaveLength(72);
  const paths = [...(await held.answer(72, RECORD)), ...(await held.answer(72, RECORD))];
  expect(held.requests).toHaveLength(68);
  paths.push(...(await held.answer(68, RECORD)), ...(await held.answer(68, RECORD)));
  await Promise.all([...reads, ...writes]);
  const numbers = paths.map((path) => Number(path.split('/').at(-1)));
  const isOf = (count: number) => numbers.filter((number) => number <= count);
  expect(numbers).toHaveLength(220);
  expect(isOf(200).filter((_, at) => at < 64)).toEqual(times(64, (at) => at + 1));
});

test('databases take turns', async () => {
  const held = new Held();
  const [a, b] = [held.client.database('a'), held.client.database('b')];
  const calls = times(200, () => a.query());
  calls.push(b.query());
  await settled();
  expect(await held.answer(64)).toEqual(times(64, () => 'a/query'));
  expect(
    held.requests
      .slice(0, 2)
      .map(({ path }) => path)
      .toSorted(),
  ).toEqual(['a/query', 'b/query']);
  while (held.requests.length > 0) await held.answer(64);
  await Promise.all(calls);
});

test('an abort ends a call that waits, and sends nothing', async () => {
  const held = new Held();
  const database = held.client.database('a');
  const calls = times(64, () => database.query());
  const stop = new AbortController();
  const waiting = database.query({ signal: stop.signal });
  await settled();
  stop.abort(new Error('no more'));
  await expect(waiting).rejects.toThrow('no more');
  expect(await held.answer(64)).toHaveLength(64);
  expect(held.requests).toEqual([]);
  await Promise.all(calls);
});

test('a close waits for the calls that wait, and they are sent', async () => {
  const held = new Held();
  const database = held.client.database('a');
  const calls = times(100, () => database.query());
  await settled();
  let closed = false;
  const closing = held.client.close().then(() => {
    closed = true;
  });
  await expect(database.query()).rejects.toMatchObject({ code: 'not_ready' });
  await held.answer(64);
  expect([closed, held.requests.length]).toEqual([false, 36]);
  await held.answer(36);
  expect(await outcomes(calls)).toEqual({ ok: 100 });
  await closing;
});

test('waits for changes, streams and exports hold up no other call, and are not held up', async () => {
  const held = new Held();
  const database = held.client.database('a');
  const stop = new AbortController();
  const { signal } = stop;
  const waits = times(100, () => database.changes({ waitMs: 1_000 }, { signal }));
  const exports = times(100, () => database.exportLines({ signal }).next());
  const reembedding = database.cancelReembedding();
  await settled();
  expect(held.requests).toHaveLength(201);
  const [search, write] = [database.query(), database.upsert([{ data: {} }])];
  await settled();
  expect(held.requests.splice(0, 201)).toHaveLength(201);
  await held.answer(1);
  await held.answer(1, BATCH);
  await Promise.all([search, write]);
  // With every place taken, they begin nevertheless.
  times(64, () => database.query({ signal }).catch(() => undefined));
  times(8, () => database.patch(1, {}, { signal }).catch(() => undefined));
  await settled();
  expect(held.requests.splice(0)).toHaveLength(72);
  const late = [
    database.changes({ waitMs: 1_000 }, { signal }),
    database.exportLines({ signal }).next(),
    database.cancelReembedding({ signal }),
  ];
  await settled();
  expect(held.requests).toHaveLength(3);
  stop.abort(new Error('no more'));
  await Promise.allSettled([...waits, ...exports, ...late]);
  void reembedding;
});

/** A client of a service that refuses every request, except after `refusals` of them. */
function refused(code: string, headers: Record<string, string>, refusals = Number.POSITIVE_INFINITY) {
  const seen = { attempts: 0, onAttempt: (_: number) => {} };
  const client = new Client({
    url: 'http://127.0.0.1:1',
    key: 'k',
    fetch: async () => {
      seen.attempts += 1;
      seen.onAttempt(seen.attempts);
      if (seen.attempts > refusals) return Response.json(PAGE);
      return Response.json(
        { code, detail: 'later' },
        { status: code === 'rate_limited' ? 429 : 503, headers },
      );
    },
  });
  return { seen, client, query: (signal?: AbortSignal) => client.database('a').query({ signal }) };
}

/** Moves the clock to the ends of the next pauses of a call. What the call does between them takes real time. */
async function endPauses(count: number): Promise<void> {
  for (let ended = 0; ended < count; ended++) {
    while (vi.getTimerCount() === 0) await setImmediate();
    await vi.advanceTimersToNextTimerAsync();
  }
}

describe('with a clock that the test moves', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test.each(['busy', 'rate_limited'])('%s is waited for as long as the signal allows', async (code) => {
    const { seen, query } = refused(code, { 'retry-after': '30' }, 50);
    const start = performance.now();
    const page = query(new AbortController().signal);
    await endPauses(50);
    expect(await page).toEqual(PAGE);
    expect(seen.attempts).toBe(51);
    expect(performance.now() - start).toBe(50 * 30_000);

    const stop = new AbortController();
    const { seen: again, query: endless } = refused(code, { 'retry-after': '1' });
    again.onAttempt = (attempt) => attempt === 30 && stop.abort(new Error('no more'));
    const ended = expect(endless(stop.signal)).rejects.toThrow('no more');
    await endPauses(29);
    await ended;
    expect(again.attempts).toBe(30);
  });

  test.each([
    ['busy', undefined],
    ['rate_limited', undefined],
    ['not_ready', undefined],
    ['not_ready', new AbortController().signal],
  ])('%s is waited for a minute, if no signal allows more', async (code, signal) => {
    const { seen, query } = refused(code, { 'retry-after': '10' });
    const start = performance.now();
    const failed = expect(query(signal)).rejects.toMatchObject({ code });
    await endPauses(6);
    await failed;
    expect(seen.attempts).toBe(7);
    expect(performance.now() - start).toBe(60_000);
  });

  test.each(['backup', 'doctor', 'exportLines', 'changes'] as const)(
    '%s without a signal waits for a minute',
    async (name) => {
      const { seen, client } = refused('busy', { 'retry-after': '10' });
      const database = client.database('a');
      const call = {
        backup: () => client.backup().next(),
        doctor: () => client.doctor().next(),
        exportLines: () => database.exportLines().next(),
        changes: () => database.changes({ waitMs: 1_000 }),
      }[name];
      const start = performance.now();
      const failed = expect(call()).rejects.toMatchObject({ code: 'busy' });
      await endPauses(6);
      await failed;
      expect(seen.attempts).toBe(7);
      expect(performance.now() - start).toBe(60_000);
    },
  );

  test('a key or a webhook of which there are too many is not waited for', async () => {
    const { seen, client } = refused('busy', { 'retry-after': '1' });
    const { signal } = new AbortController();
    for (const create of [
      () => client.issueKey({ name: 'k', actions: ['search'], databases: '*' }, { signal }),
      () => client.database('a').createWebhook({ url: 'https://example.com' }, { signal }),
    ]) {
      const failed = expect(create()).rejects.toMatchObject({ code: 'busy' });
      await endPauses(4);
      await failed;
    }
    expect(seen.attempts).toBe(10);
  });

  test('what failed is repeated four times', async () => {
    for (const [code, headers] of [
      ['busy', {}],
      ['timed_out', { 'retry-after': '1' }],
      ['store_failed', { 'retry-after': '1' }],
    ] as const) {
      const { seen, query } = refused(code, headers);
      const failed = expect(query(new AbortController().signal)).rejects.toMatchObject({ code });
      await endPauses(4);
      await failed;
      expect(seen.attempts).toBe(5);
    }
  });

  test('a call that pauses leaves its place to others', async () => {
    const { seen, client } = refused('busy', { 'retry-after': '10' }, 64);
    const calls = times(65, () => client.database('a').query());
    // The last one is sent although all others wait.
    await calls[64];
    expect(seen.attempts).toBe(65);
    while (vi.getTimerCount() < 64) await setImmediate();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await outcomes(calls)).toEqual({ ok: 65 });
  });
});
