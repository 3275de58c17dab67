import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { NO_SERVER, PostgresServer } from '../../scripts/postgres/server.js';
import { ADMIN } from '../../src/server/keys/caller.js';
import { fileKeys } from '../../src/server/keys/key-file.js';
import { hashKey } from '../../src/server/keys/key-format.js';
import { KeyStore } from '../../src/server/keys/key-store.js';
import { PostgresKeyStorage } from '../../src/server/keys/postgres-key-storage.js';
import { FileWebhookStore } from '../../src/server/webhooks/file-webhook-store.js';
import { PostgresWebhookStore } from '../../src/server/webhooks/postgres-webhook-store.js';
import type { StoredWebhook } from '../../src/server/webhooks/stored-webhook.js';
import type { WebhookStore } from '../../src/server/webhooks/webhook-store.js';
import { NodePostgres, ServiceTables } from '../../src/store/postgres/index.js';
import { PGliteDatabase } from '../helpers/postgres/pglite-database.js';

interface Place {
  /** Opens the state as one more process does. */
  keys(): Promise<KeyStore>;
  webhooks(): Promise<WebhookStore>;
  close(): Promise<void>;
}

async function inFiles(): Promise<Place> {
  const directory = await mkdtemp(path.join(tmpdir(), 'cosift-state-'));
  return {
    keys: async () => fileKeys(directory, 'admin'),
    webhooks: () => FileWebhookStore.open(directory),
    close: () => rm(directory, { recursive: true, force: true }),
  };
}

/** `open` opens a connection to one database. */
function inDatabase(open: () => ServiceTables | Promise<ServiceTables>, destroy: () => Promise<void>): Place {
  const opened: ServiceTables[] = [];
  const tables = async () => {
    opened.push(await open());
    return opened.at(-1) as ServiceTables;
  };
  return {
    keys: async () => new KeyStore(new PostgresKeyStorage(await tables()), hashKey('admin')),
    webhooks: async () => new PostgresWebhookStore(await tables()),
    close: async () => {
      await Promise.all(opened.map((tables) => tables.close()));
      await destroy();
    },
  };
}

async function inPGlite(): Promise<Place> {
  const database = await PGliteDatabase.open();
  return inDatabase(
    () => ServiceTables.open(database.again()),
    () => database.destroy(),
  );
}

async function onServer(): Promise<Place> {
  const server = await PostgresServer.start();
  const url = await server.createDatabase();
  return inDatabase(
    () => ServiceTables.open(new NodePostgres({ url, maxConnections: 2 })),
    () => server.stop(),
  );
}

const PLACES: [string, () => Promise<Place>, string | undefined][] = [
  ['files', inFiles, undefined],
  ['PGlite', inPGlite, undefined],
  ['a PostgreSQL server', onServer, NO_SERVER],
];

describe.each(PLACES)('keys and webhooks in %s', (_, open, missing) => {
  describe.skipIf(missing !== undefined)(missing ?? 'are shared', () => {
    let place: Place;
    beforeAll(async () => {
      place = await open();
    });
    afterAll(() => place?.close());

    const request = { name: 'k', actions: ['search' as const], databases: '*' as const };

    test('two processes lose no change of keys, and each sees the changes of the other', async () => {
      const stores = [await place.keys(), await place.keys()] as const;
      const issued = await Promise.all(
        Array.from({ length: 20 }, (_, i) => (stores[i % 2] as KeyStore).issue(request, ADMIN)),
      );
      for (const store of stores) {
        await expect.poll(async () => (await store.list(ADMIN)).length).toBe(20);
        for (const { key, key_id } of issued) {
          expect((await store.authenticate(key))?.keyId).toBe(key_id);
        }
      }
      const [first] = issued;
      expect(await stores[1].authenticate(first!.key)).toBeDefined();
      await stores[0].revoke(first!.key_id, ADMIN);
      expect(await stores[0].authenticate(first!.key)).toBeUndefined();
      await expect.poll(() => stores[1].authenticate(first!.key)).toBeUndefined();
      expect(await stores[1].authenticate(issued[1]!.key)).toBeDefined();
    });

    test('callers are made again only after a change', async () => {
      const keys = await place.keys();
      const { key } = await keys.issue(request, ADMIN);
      const caller = await keys.authenticate(key);
      for (let n = 0; n < 100; n++) expect(await keys.authenticate(key)).toBe(caller);
      await keys.issue(request, ADMIN);
      expect(await keys.authenticate(key)).not.toBe(caller);
    });

    test('a key that was revoked issues no other', async () => {
      const keys = await place.keys();
      const { key, key_id } = await keys.issue({ ...request, actions: ['keys.manage', 'search'] }, ADMIN);
      const caller = await keys.authenticate(key);
      await keys.revoke(key_id, ADMIN);
      await expect(keys.issue(request, caller!)).rejects.toMatchObject({ code: 'unauthorized' });
      await expect(keys.revoke(key_id, ADMIN)).rejects.toMatchObject({ code: 'key_not_found' });
    });

    test('webhooks are kept in their order, updated and removed', async () => {
      const webhooks = await place.webhooks();
      const [one, other] = [webhook('one'), webhook('other')];
      await webhooks.add(one);
      await webhooks.add(other);
      expect(await webhooks.list()).toEqual([one, other]);
      expect((await webhooks.lease()).map(idOf).toSorted()).toEqual(['one', 'other']);
      Object.assign(one, { position: 7, epoch: 'a'.repeat(32) });
      expect(await webhooks.update(one)).toBe(true);
      expect(await webhooks.find('one')).toEqual(one);
      await webhooks.remove(['one']);
      expect(await webhooks.update(one)).toBe(false);
      expect((await webhooks.list()).map(idOf)).toEqual(['other']);
      expect(await webhooks.find('one')).toBeUndefined();
      await webhooks.remove(['other']);
      await webhooks.close();
    });

    test('a database has no more webhooks than it may have', async () => {
      const webhooks = await place.webhooks();
      const ids = Array.from({ length: 75 }, (_, n) => `n${n}`);
      for (const id of ids) await webhooks.add(webhook(id));
      await expect(webhooks.add(webhook('more'))).rejects.toMatchObject({ code: 'busy' });
      await webhooks.add({ ...webhook('elsewhere', 'places'), counted_for: 'another' });
      await webhooks.remove([...ids, 'elsewhere']);
      await webhooks.close();
    });
  });
});

test('a revocation whose message is lost is noticed after a second', async () => {
  const database = await PGliteDatabase.open();
  const withoutMessages = database.again();
  withoutMessages.listen = () => undefined;
  const clients = [database, withoutMessages];
  const place = inDatabase(
    () => ServiceTables.open(clients.shift() as PGliteDatabase),
    () => database.destroy(),
  );
  const [revoking, other] = [await place.keys(), await place.keys()];
  const clock = vi.spyOn(performance, 'now').mockReturnValue(10_000);
  try {
    const { key, key_id } = await revoking.issue({ name: 'k', actions: ['search'], databases: '*' }, ADMIN);
    expect(await other.authenticate(key)).toBeDefined();
    await revoking.revoke(key_id, ADMIN);
    clock.mockReturnValue(10_999);
    expect(await other.authenticate(key)).toBeDefined();
    clock.mockReturnValue(11_000);
    expect(await other.authenticate(key)).toBeUndefined();
  } finally {
    clock.mockRestore();
    await place.close();
  }
});

describe('webhooks that processes share', () => {
  let place: Place;
  beforeAll(async () => {
    place = await inPGlite();
  });
  afterAll(() => place?.close());

  test('one process delivers each, and another takes it over after a close', async () => {
    const [one, other] = [await place.webhooks(), await place.webhooks()];
    const stored = webhook('shared');
    await one.add(stored);
    expect(await other.lease()).toEqual([]);
    expect(await other.update({ ...stored, position: 9 })).toBe(false);
    const woken = new Promise<void>((resolve) => other.sharing?.watch(resolve));
    await one.close();
    await woken;
    expect((await other.lease()).map(idOf)).toEqual(['shared']);
    expect(await one.lease()).toEqual([]);
    expect(await one.update({ ...stored, position: 9 })).toBe(false);
    expect(await other.update({ ...stored, position: 3 })).toBe(true);
    expect(await one.find('shared')).toMatchObject({ position: 3 });
    await other.close();
  });
});

function webhook(webhook_id: string, database = 'facts'): StoredWebhook {
  const url = 'http://127.0.0.1:9/';
  return {
    webhook_id,
    database,
    url,
    secret: `whsec_${'a'.repeat(43)}=`,
    position: 0,
    created_at: '2026-01-01T00:00:00.000Z',
    created_by: `the key of ${database}`,
    counted_for: `the key of ${database}`,
  };
}

function idOf({ webhook_id }: StoredWebhook): string {
  return webhook_id;
}
