import { setImmediate as otherWork, setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { NO_SERVER, PostgresServer } from '../../scripts/postgres/server.js';
import { RemoteTarget } from '../../src/cli/sync/remote-target.js';
import { Transport } from '../../src/client/transport.js';
import { CosiftError } from '../../src/errors.js';
import { configuredSyncs, Sync, type SyncSettings, type SyncSource } from '../../src/sync/index.js';
import { testInFull } from '../helpers/full.js';
import { RowSource } from '../helpers/row-source.js';
import { LINES_TYPE, Service } from './service.js';

const row = (key: string, text = `the text of ${key}`) => ({ key, data: { text } });
/** The service ends a hold without requests after so many milliseconds. */
const HOLD_MS = 1_000;
/** The service ends a stream of lines that pauses for so many milliseconds. */
const BODY_MS = 1_000;

/** The actions that a runner needs. */
const BOTH = ['records.read', 'records.write'];

type Send = typeof fetch;

const stores = [
  ['a directory', undefined],
  [`PostgreSQL${NO_SERVER ? ` (${NO_SERVER})` : ''}`, NO_SERVER ?? 'started'],
] as const;

describe.each(stores)('a sync of a service on %s', (_, store) => {
  describe.skipIf(store !== undefined && NO_SERVER !== undefined)('that another process runs', () => {
    let server: PostgresServer | undefined;
    let service: Service;
    /** For what the service does whatever its store is. */
    const testOnce: typeof testInFull = store === undefined ? test : testInFull;
    const open: Sync[] = [];
    /** Paths of holds. */
    const holds: string[] = [];
    /** The database of a test, and where it is followed. */
    let facts = '';
    let place = '';
    let tests = 0;
    beforeAll(async () => {
      if (store !== undefined) server = await PostgresServer.start();
      const flags = server === undefined ? {} : { store: await server.createDatabase() };
      const source = { database: 'own', from: 'sqlite:/nowhere', table: 't', columns: ['a'], embed: ['a'] };
      const syncs = configuredSyncs({ own: source });
      const env = { COSIFT_ADMIN_KEY: 'the-admin-key' };
      service = await Service.start(flags, { syncs, timeouts: { holdMs: HOLD_MS, bodyMs: BODY_MS } }, env);
    });
    afterAll(async () => {
      await service?.stop();
      await server?.stop();
    });
    beforeEach(async () => {
      tests += 1;
      facts = `facts${tests}`;
      place = `/v1/databases/${facts}/sync/shop`;
      // Nothing is embedded: no record has this column.
      const created = await service.call('PUT', `/v1/databases/${facts}`, { embed: { columns: ['a'] } });
      expect(created.status).toBe(201);
      const named = await service.call('PUT', '/v1/aliases/alias', { database: facts });
      expect([200, 201]).toContain(named.status);
    });
    afterEach(async () => {
      for (const sync of open.splice(0)) await sync.close();
      for (const path of holds.splice(0)) await service.call('DELETE', path);
    });

    const transportOf = ({ key = service.adminKey, send = fetch as Send } = {}) =>
      new Transport({ url: service.url, key, retries: 0, fetch: send });
    const targetOf = (given?: { key?: string; send?: Send | undefined }) =>
      new RemoteTarget(transportOf(given), facts, 'shop');
    const openSync = (
      source: SyncSource,
      { send, ...settings }: Partial<SyncSettings> & { send?: Send } = {},
    ): Sync => {
      const sync = new Sync(source, targetOf({ send }), { name: 'shop', ...settings });
      open.push(sync);
      return sync;
    };
    const content = async (): Promise<Record<string, string>> => {
      const { text } = await service.call('GET', `/v1/databases/${facts}/export`);
      const lines = text.split('\n').filter(Boolean);
      return Object.fromEntries(lines.map((line) => [JSON.parse(line).key, JSON.parse(line).data.text]));
    };
    const keyOf = async (request: object) =>
      (await service.call('POST', '/v1/keys', { name: 'k', databases: '*', ...request })).body.key as string;
    const hold = async () => {
      const { hold } = (await service.call('POST', `${place}/holds`)).body;
      holds.push(`${place}/holds/${hold}`);
      return hold as string;
    };

    test('writes, deletes, and continues at the bookmark that was stored with the records', async () => {
      await service.call('POST', `/v1/databases/${facts}/records`, { records: [{ key: 'other', data: {} }] });
      const source = new RowSource([row('a'), row('b'), row('c')], 'changes');
      const first = openSync(source);
      expect(await first.once()).toMatchObject({ written: 3, deleted: 0 });
      await first.close();
      source.rows = [row('a'), row('b', 'new')];
      const second = openSync(source);
      expect(await second.status()).toMatchObject({ state: 'in_step', records: 3 });
      expect(await second.once()).toMatchObject({ read: 1, written: 1, deleted: 1 });
      expect(source.asked).toEqual(['complete', 'changes']);
      expect(await content()).toEqual({ other: undefined, 'shop/a': row('a').data.text, 'shop/b': 'new' });
      const { body } = await service.call('GET', `/v1/databases/alias/sync/shop?limit=1&after=shop/a`);
      expect(body).toMatchObject({ records: 2, keys: ['shop/b'], state: { bookmark: { number: 1 } } });
    });

    testOnce('shows the moment at which the source was read', async () => {
      const source = new RowSource([row('a')]);
      source.clock = new Date('2026-01-02T03:04:05.678Z');
      await openSync(source).once();
      const { body } = await service.call('GET', `/v1/databases/${facts}/records/key:shop%2Fa`);
      expect(body.timestamps.synced_at ?? body.timestamps.last_synced_at).toBe(source.clock.toISOString());
    });

    test('deletes more keys than fit into one request in one commit, and none beyond the limit', async () => {
      const all = Array.from({ length: 6_000 }, (_, at) => row(`${at}`.padStart(5, '0'), 'x'));
      const source = new RowSource(all, 'keys');
      await openSync(source).once();
      source.rows = all.slice(0, 500);
      const [sync] = open as [Sync];
      expect(await sync.once()).toMatchObject({ deleted: 0, withheld: 5_500 });
      expect(Object.keys(await content())).toHaveLength(6_000);
      const before = (await service.call('GET', `/v1/databases/${facts}/changes?limit=1`)).body;
      expect(await sync.confirm()).toMatchObject({ deleted: 5_500, withheld: 0 });
      expect(Object.keys(await content())).toHaveLength(500);
      expect(before.epoch).toBeDefined();
    });

    testOnce('lists the rows that the service refuses', async () => {
      const source = new RowSource([row('a'), { key: 'b', data: { text: 'x'.repeat(2_000_000) } }, row('c')]);
      const sync = openSync(source);
      expect(await sync.once()).toMatchObject({ written: 2, refused: 1 });
      expect((await sync.status()).refusedRows).toEqual([
        { key: 'b', reason: expect.stringContaining('larger than') },
      ]);
    });

    testOnce('sends rows that come after a long pause, which would end a request', async () => {
      const source = new RowSource([]);
      const round = await source.round(null, true);
      source.round = async () => ({
        ...round!,
        batches: (async function* () {
          yield { rows: [row('a'), { key: 'b', data: { text: 'x'.repeat(2_000_000) } }] };
          await pause(3 * BODY_MS);
          yield { rows: [row('c'), { key: 'd', data: { text: 'y'.repeat(2_000_000) } }] };
        })(),
      });
      const target = new RemoteTarget(transportOf(), facts, 'shop', BODY_MS / 4);
      const sync = new Sync(source, target, { name: 'shop' });
      open.push(sync);
      expect(await sync.once()).toMatchObject({ read: 4, written: 2, refused: 2 });
      expect((await sync.status()).refusedRows.map(({ key }) => key)).toEqual(['b', 'd']);
      expect(Object.keys(await content())).toEqual(['shop/a', 'shop/c']);
    });

    test.each(['commit', 'holds', 'records'])('goes on after the reply to %s was lost', async (path) => {
      let lost = 0;
      const send: Send = async (input, init) => {
        const response = await fetch(input, init);
        if (init?.method !== 'POST' || !String(input).endsWith(path) || lost > 0) return response;
        lost += 1;
        throw new TypeError('the connection was lost');
      };
      const source = new RowSource([row('a'), row('b')], 'changes');
      if (path === 'records') {
        // Streams of lines do not use `fetch`.
        let failures = 1;
        source.afterRows = async () => {
          while (Object.keys(await content()).length < 2) await otherWork();
          if (failures-- > 0) await service.running.app.server.closeAllConnections();
        };
        lost = 1;
      }
      let failures = 0;
      const onAttempt = (counts?: object) => {
        if (counts === undefined) failures += 1;
      };
      const sync = openSync(source, { send, onAttempt });
      await sync.once();
      expect(lost).toBe(1);
      // The wait for a hold that nobody uses is none.
      expect(failures).toBe(1);
      expect(await content()).toEqual({ 'shop/a': row('a').data.text, 'shop/b': row('b').data.text });
      expect(await sync.status()).toMatchObject({ state: 'in_step', records: 2 });
      source.rows = [row('b')];
      expect(await sync.once()).toMatchObject({ read: 0, deleted: 1 });
      expect(Object.keys(await content())).toEqual(['shop/b']);
    });

    testOnce('does not store what a failure tells of the source, if it is told so', async () => {
      const source = new RowSource([row('a')]);
      source.afterRows = async () => {
        throw new CosiftError('source_failed', 'no such column: secret');
      };
      const sync = openSync(source, { sourceFailure: 'it cannot be read' });
      await expect(sync.once()).rejects.toThrow('secret');
      expect((await sync.status()).reason).toContain('secret');
      const { body } = await service.call('GET', place);
      expect(body.state.failure).toEqual({ state: 'failed', reason: 'it cannot be read' });
    });

    testOnce('stores why a pass ended in its middle', async () => {
      const source = new RowSource([row('a')]);
      source.afterRows = async () => {
        throw new CosiftError('source_failed', 'the table is gone');
      };
      await expect(openSync(source).once()).rejects.toThrow('the table is gone');
      const { body } = await service.call('GET', place);
      expect(body.state.failure).toEqual({ state: 'failed', reason: 'the table is gone' });
    });

    test('has one runner at a time, and another one once that one is gone', async () => {
      const dead = await hold();
      expect((await service.call('POST', `${place}/holds`)).body).toMatchObject({ code: 'busy' });
      // A hold that is renewed goes on.
      const until = performance.now() + 2 * HOLD_MS;
      while (performance.now() < until) {
        expect((await service.call('PUT', `${place}/holds/${dead}`)).status).toBe(200);
        await pause(HOLD_MS / 20);
      }
      expect((await service.call('POST', `${place}/holds`)).status).toBe(503);
      const sync = openSync(new RowSource([row('a')]));
      expect(await sync.once()).toMatchObject({ written: 1 });
      for (const [method, path, body] of [
        ['PUT', '', undefined],
        ['POST', '/commit', { state: {} }],
        ['DELETE', '', undefined],
      ] as const) {
        const late = await service.call(method, `${place}/holds/${dead}${path}`, body);
        expect(late).toMatchObject({ status: 409, body: { code: 'hold_lost' } });
      }
      const lines = `${JSON.stringify({ key: 'shop/a', data: { text: 'old' } })}\n`;
      const written = await service.call('POST', `${place}/holds/${dead}/records`, lines, LINES_TYPE);
      expect(written.body.code).toBe('hold_lost');
      expect(await content()).toEqual({ 'shop/a': row('a').data.text });
    });

    test('ends what a runner has begun before another one begins', async () => {
      const first = await hold();
      let end: () => void = () => undefined;
      const body = new ReadableStream({
        start: (controller) => {
          controller.enqueue(Buffer.from(`${JSON.stringify({ key: 'shop/a', data: { text: 'old' } })}\n`));
          end = () => controller.close();
        },
      });
      const request = { method: 'POST', body, duplex: 'half' } as RequestInit;
      const headers = { 'x-api-key': service.adminKey, ...LINES_TYPE };
      const streamed = fetch(`${service.url}${place}/holds/${first}/records`, { ...request, headers });
      while ((await content())['shop/a'] !== 'old') await otherWork();
      expect((await service.call('DELETE', `${place}/holds/${first}`)).status).toBe(204);
      expect(await hold()).not.toBe(first);
      end();
      expect(await (await streamed).text()).toContain('"code":"hold_lost"');
    });

    testOnce('goes on after its connections were cut in a pass', async () => {
      const source = new RowSource([row('a')], 'changes');
      const sync = openSync(source, { everyMs: 20 });
      await sync.inStep();
      source.duringRound = async () => {
        source.duringRound = undefined;
        await service.running.app.server.closeAllConnections();
      };
      source.rows = [row('a', 'new'), row('b')];
      await sync.inStep();
      await sync.inStep();
      expect(await content()).toEqual({ 'shop/a': 'new', 'shop/b': row('b').data.text });
    });

    testOnce('needs a key that may write records, and sees no hidden database', async () => {
      const state = (key: string, path = place) => service.call('GET', path, undefined, { 'x-api-key': key });
      for (const actions of [['records.read', 'databases.manage', 'search'], ['records.write']])
        expect((await state(await keyOf({ actions }))).body.code).toBe('forbidden');
      const filter = { rules: [{ column: 'text', operator: 'equals', value: 'x' }] };
      expect((await state(await keyOf({ actions: BOTH, filter }))).body.code).toBe('forbidden');
      const elsewhere = await keyOf({ actions: BOTH, databases: ['elsewhere'] });
      expect((await state(elsewhere)).body.code).toBe('database_not_found');
      expect((await state('wrong')).status).toBe(401);
      const key = await keyOf({ actions: BOTH, databases: [facts] });
      const sync = new Sync(new RowSource([row('a')]), targetOf({ key }), { name: 'shop' });
      open.push(sync);
      expect(await sync.once()).toMatchObject({ written: 1 });
    });

    testOnce('is refused where the service follows the source itself', async () => {
      // The service may have created it already.
      await service.call('PUT', '/v1/databases/own', { embed: { columns: ['a'] } });
      await service.call('PUT', '/v1/aliases/alias', { database: 'own' });
      for (const database of ['own', 'alias']) {
        const { status, body } = await service.call('POST', `/v1/databases/${database}/sync/own/holds`);
        expect(status).toBe(400);
        expect(body.detail).toContain('the service itself follows a source "own" into database "own"');
      }
      expect((await service.call('POST', '/v1/databases/own/sync/Own/holds')).status).toBe(400);
    });

    testOnce('refuses a commit that is none', async () => {
      const path = `${place}/holds/${await hold()}/commit`;
      for (const [commit, pointer] of [
        [{ state: 7 }, '/state'],
        [{ state: {}, keys: [7] }, '/keys/0'],
        [{ state: {}, other: 1 }, '/other'],
        [{ state: {}, keys: ['shop/a'], unwritten_since: 1 }, '/unwritten_since'],
        [{ state: {}, unwritten_since: 1_000_000 }, '/unwritten_since'],
        [{ keys: [''] }, '/keys/0'],
        [{ state: {}, keys: ['shop/a', 'other'] }, '/keys/1'],
      ] as const) {
        const { status, body } = await service.call('POST', path, commit);
        expect(status, JSON.stringify(commit)).toBe(400);
        expect(body.detail).toContain(`${pointer}: `);
      }
    });

    testOnce('keeps no more keys for a commit than fit into its memory', async () => {
      const path = `${place}/holds/${await hold()}/commit`;
      const keys = Array.from({ length: 5_000 }, (_, at) => `shop/${at}`.padEnd(180, 'x'));
      const many = JSON.stringify({ keys });
      const statuses = new Set<number>();
      let sent = 0;
      while (!statuses.has(413) && sent < 100) {
        statuses.add((await service.call('POST', path, many)).status);
        sent += 1;
      }
      expect([...statuses]).toEqual([200, 413]);
      expect(sent).toBeGreaterThan(50);
      // Those of before are forgotten.
      expect((await service.call('POST', path, { state: {}, keys: ['shop/a'] })).body).toEqual({
        deleted: 0,
      });
    });

    test('takes no place of runners with other keys, and none without a database', async () => {
      const path = (name: number) => `/v1/databases/${facts}/sync/n${name}/holds`;
      const headers = { 'x-api-key': await keyOf({ actions: ['records.write'], databases: [facts] }) };
      const taken = Array.from({ length: 10 }, (_, at) => service.call('POST', path(at), undefined, headers));
      taken.push(service.call('POST', path(99)));
      const responses = await Promise.all(taken);
      const statuses = responses.map(({ status }) => status);
      responses.forEach(({ status, body }, at) => {
        if (status === 201) holds.push(`${path(at === 10 ? 99 : at)}/${body.hold}`);
      });
      expect(statuses.slice(0, 10).sort()).toEqual([201, 201, 201, 201, 201, 201, 201, 201, 503, 503]);
      expect(statuses[10]).toBe(201);
      expect((await service.call('POST', '/v1/databases/missing/sync/shop/holds')).status).toBe(404);
      await service.call('PUT', '/v1/databases/gone', { dimensions: 2 });
      const { body } = await service.call('POST', '/v1/databases/gone/sync/shop/holds');
      await service.call('DELETE', '/v1/databases/gone');
      const renewed = await service.call('PUT', `/v1/databases/gone/sync/shop/holds/${body.hold}`);
      expect(renewed.status).toBe(404);
    });

    testOnce('whose state is not one of a runner begins again', async () => {
      for (const state of [{ as_of: 7 }, { failure: 7 }, { as_of: 'x', refused: {} }]) {
        const path = `${place}/holds/${await hold()}`;
        expect((await service.call('POST', `${path}/commit`, { state })).body).toEqual({ deleted: 0 });
        await service.call('DELETE', path);
        const sync = openSync(new RowSource([row('a')], 'changes'));
        expect(await sync.status()).toMatchObject({ state: 'new' });
        await sync.once();
        await sync.close();
      }
    });
  });
});
