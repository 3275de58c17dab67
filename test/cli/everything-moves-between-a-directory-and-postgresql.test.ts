import { readFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NO_SERVER, PostgresServer } from '../../scripts/postgres/server.js';
import { Client } from '../../src/client/index.js';
import { open } from '../../src/library/cosift.js';
import { fileKeys } from '../../src/server/keys/key-file.js';
import { readWebhooks } from '../../src/server/webhooks/webhook-file.js';
import { testInFull } from '../helpers/full.js';
import { Command, cosift, KEY, lines, serve, temporaryDirectory } from '../helpers/processes.js';
import { Receiver } from '../server/receiver.js';

async function text(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all).toString('utf8');
}

/** All lines of an export, with vectors. */
async function exported(place: string | { store: string }, database: string): Promise<string> {
  const cosift = await open(place);
  try {
    return await text(cosift.database(database).exportLines({ vectors: true }));
  } finally {
    await cosift.close();
  }
}

/** Records with all that is hard to move. */
const RECORDS = [
  { id: 5, uuid: '0190a0b2-0000-7000-8000-000000000001', data: { z: 1, a: 'größe 😀', '10': null, b: true } },
  {
    id: 9,
    key: 'a "key" \u0000\u0001',
    data: { text: 'line\nend \u0000 \u0003 \u2028', n: 5e-324, big: 2 ** 53 },
  },
  {
    data: { __proto: 'x', empty: '' },
    timestamps: {
      created_at: '2001-02-03T04:05:06.007Z',
      changed_at: '2002-02-03T04:05:06.007Z',
      synced_at: '2003-02-03T04:05:06.007Z',
    },
  },
  { id: 2 ** 40, data: {} },
].map((record, at) => ({ ...record, vector: [Math.cos(at), Math.sin(at), 1e-20, -0.3] }));

describe.skipIf(NO_SERVER !== undefined)(
  `a directory and PostgreSQL${NO_SERVER ? ` (${NO_SERVER})` : ''}`,
  () => {
    let server: PostgresServer;
    beforeAll(async () => {
      server = await PostgresServer.start();
    });
    afterAll(() => server?.stop());

    test('everything moves to PostgreSQL and back, and followers go on', async () => {
      const data = await temporaryDirectory();
      const receiver = new Receiver();
      const url = await receiver.listen();
      const first = await serve(data, '--webhook-allow', '127.0.0.1');
      const client = new Client({ url: first.url, key: KEY });
      await client.createDatabase('hard', { dimensions: 4 });
      await client.createDatabase('texts', { lexical: true, embed: { columns: ['text'] } });
      const hard = client.database('hard');
      await hard.upsert(RECORDS);
      await hard.upsert([{ id: 77, data: { gone: true }, vector: [1, 0, 0, 0] }]);
      await hard.delete({ ids: [77] });
      await client.database('texts').upsert([
        { id: 1, data: { text: 'Lake Baikal is deep' } },
        { id: 2, data: { text: '' } },
      ]);
      await client.setAlias('current', 'texts');
      const issued = await client.issueKey({ name: 'k', actions: ['search'], databases: ['hard'] });
      const request = (method: string, body?: object) =>
        fetch(`${first.url}/v1/databases/hard/webhooks`, {
          method,
          headers: { 'x-api-key': KEY, ...(body && { 'content-type': 'application/json' }) },
          ...(body && { body: JSON.stringify(body) }),
        });
      const created = (await (await request('POST', { url, after: 0 })).json()) as { secret: string };
      receiver.secret = created.secret;
      const delivered = await receiver.changes(6);
      await expect
        .poll(async () => ((await (await request('GET')).json()) as { webhooks: object[] }).webhooks)
        .toMatchObject([{ position: 6 }]);
      const feed = await hard.changes({ after: 0 });
      await client.close();
      first.command.child.kill('SIGTERM');
      await first.command.ended();
      const before = { hard: await exported(data, 'hard'), texts: await exported(data, 'texts') };

      const store = await server.createDatabase();
      const there = await cosift('migrate', '--from', data, '--to', store);
      expect(there.stderr).toBe('');
      expect(there.code).toBe(0);
      expect(there.stdout).toContain('moved 2 databases, 1 key and 1 webhook');
      expect(await exported({ store }, 'hard')).toBe(before.hard);
      expect(await exported({ store }, 'texts')).toBe(before.texts);
      expect(await exported({ store }, 'current')).toBe(before.texts);
      const again = await cosift('migrate', '--from', data, '--to', store);
      expect(again.code).toBe(1);
      expect(again.stderr).toContain('has a database "hard" already');

      const elsewhere = await temporaryDirectory();
      const second = await serve(elsewhere, '--store', store, '--webhook-allow', '127.0.0.1');
      const moved = new Client({ url: second.url, key: KEY });
      // A follower goes on after the position that it had, and the webhook after its last delivery.
      expect(await moved.database('hard').changes({ after: 0 })).toEqual({
        ...feed,
        epoch: expect.any(String),
      });
      const { epoch } = feed;
      expect(await moved.database('hard').changes({ after: 6, epoch })).toMatchObject({
        changes: [],
        position: 6,
      });
      const { results } = await moved.database('hard').upsert([{ data: { late: 1 }, vector: [0, 1, 0, 0] }]);
      expect(results[0]).toMatchObject({ id: 2 ** 40 + 1, status: 'created' });
      expect(await receiver.changes(7)).toEqual([...delivered, `created ${2 ** 40 + 1}`]);
      const user = new Client({ url: second.url, key: issued.key });
      expect(
        (await user.database('hard').search({ vector: [1, 0, 0, 0] }, { threshold: 0 })).results.length,
      ).toBe(5);
      await user.close();
      await moved.close();
      second.command.child.kill('SIGTERM');
      await second.command.ended();
      const after = await exported({ store }, 'hard');

      const back = await temporaryDirectory();
      const home = await cosift('migrate', '--from', store, '--to', back);
      expect(home.stderr).toBe('');
      expect(home.code).toBe(0);
      expect(await exported(back, 'hard')).toBe(after);
      expect(await exported(back, 'texts')).toBe(before.texts);
      const [webhook] = await readWebhooks(path.join(back, 'webhooks.json'));
      expect(webhook).toMatchObject({ secret: created.secret, database: 'hard' });
      expect(await readFile(path.join(back, 'keys.json'), 'utf8')).toContain(issued.key_id);
      expect(await fileKeys(back, '').failure()).toBeUndefined();
      // The webhook had every change, so it goes on with the next one.
      const third = await serve(back, '--webhook-allow', '127.0.0.1');
      const returned = new Client({ url: third.url, key: KEY });
      await returned.database('hard').upsert([{ id: 3, data: {}, vector: [0, 1, 0, 0] }]);
      expect((await receiver.changes(8)).slice(7)).toEqual(['created 3']);
      await returned.close();
      receiver.close();
    });

    testInFull(
      'records of a running service are copied ahead, and no id is given twice after the moves',
      async () => {
        const data = await temporaryDirectory();
        const service = await serve(data);
        const client = new Client({ url: service.url, key: KEY });
        await client.createDatabase('live', { dimensions: 4 });
        const live = client.database('live');
        const put = (id: number, text: string) =>
          live.upsert([{ id, data: { text }, vector: [1, id, 0, 0] }]);
        for (let id = 1; id <= 20; id++) await put(id, 'first');
        await live.upsert([{ id: 500, data: {}, vector: [1, 0, 0, 0] }]);
        await live.delete({ ids: [500] });
        await client.createDatabase('texts', { embed: { columns: ['text'] } });
        await client.database('texts').upsert([{ id: 9, data: { text: '' } }]);
        await client.database('texts').delete({ ids: [9] });
        const store = await server.createDatabase();
        const ahead = await cosift('migrate', '--from', service.url, '--to', store, '--key', KEY);
        expect(ahead.stderr).toBe('');
        expect(ahead.stdout).toContain('"live": 20 records');
        expect(ahead.stdout).toContain('20 of them were different');
        expect(await exported({ store }, 'live')).toBe(await text(live.exportLines({ vectors: true })));
        await put(7, 'changed');
        await live.delete({ ids: [8] });
        await client.close();
        service.command.child.kill('SIGTERM');
        await service.command.ended();

        const there = await cosift('migrate', '--from', data, '--to', store);
        expect(there.stderr).toBe('');
        expect(await exported({ store }, 'live')).toBe(await exported(data, 'live'));
        const back = await temporaryDirectory();
        expect((await cosift('migrate', '--from', store, '--to', back)).stderr).toBe('');
        expect(await exported(back, 'live')).toBe(await exported(data, 'live'));
        for (const place of [{ store }, back]) {
          const moved = await open(place);
          const { results } = await moved.database('live').upsert([{ data: {}, vector: [1, 0, 0, 0] }]);
          expect(results[0]).toMatchObject({ id: 501, status: 'created' });
          const { results: ofTexts } = await moved.database('texts').upsert([{ data: { text: '' } }]);
          expect(ofTexts[0]).toMatchObject({ id: 10, status: 'created' });
          await moved.close();
        }
      },
    );

    testInFull('an interrupted migration goes on, and what changed meanwhile is copied', async () => {
      const data = await temporaryDirectory();
      const COUNT = 12_000;
      const source = await open(data);
      await source.createDatabase('many', { dimensions: 4 });
      const fill = async (text: string) => {
        for await (const _ of source.database('many').upsertLines([Buffer.from(text)]));
      };
      await fill(lines(1, COUNT));
      await source.close();
      const store = await server.createDatabase();
      const count = async () => {
        const target = await open({ store });
        try {
          return (await target.database('many').describe()).records;
        } finally {
          await target.close();
        }
      };
      // Creates the tables.
      await (await open({ store })).close();
      const administrator = new pg.Client({ connectionString: store });
      await administrator.connect();
      try {
        // The commit that would store more than half of the records waits for the administrator.
        await administrator.query(`
          SELECT pg_advisory_lock(1);
          CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NEW; END';
          CREATE TRIGGER wait BEFORE UPDATE ON cosift.databases FOR EACH ROW
            WHEN (NEW.records > ${COUNT / 2}) EXECUTE FUNCTION wait()`);
        const first = new Command(['migrate', '--from', data, '--to', store]);
        const waiting = async () => {
          const { rows } = await administrator.query(
            "SELECT count(*)::integer AS count FROM pg_locks WHERE locktype = 'advisory' AND objid = 1 AND NOT granted",
          );
          return rows[0].count;
        };
        await expect.poll(waiting).toBe(1);
        first.child.kill('SIGINT');
        await administrator.query('SELECT pg_advisory_unlock(1)');
        expect(await first.ended()).toBe(130);
        expect(first.stderr).toContain('run the same command to go on');
        expect(await count()).toBeGreaterThanOrEqual(COUNT / 2);
        expect(await count()).toBeLessThan(COUNT);
        await administrator.query('DROP FUNCTION wait CASCADE');
      } finally {
        await administrator.end();
      }

      const changed = await open(data);
      await changed.database('many').delete({ ids: [1, 2] });
      await changed.database('many').upsert([{ id: 3, data: { changed: true }, vector: [1, 0, 0, 0] }]);
      await changed.close();
      const second = await cosift('migrate', '--from', data, '--to', store);
      expect(second.stderr).not.toContain('error');
      expect(second.code).toBe(0);
      expect(await exported({ store }, 'many')).toBe(await exported(data, 'many'));
      expect(await count()).toBe(COUNT - 2);
    });
  },
);
