import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NO_SERVER, PostgresServer } from '../../scripts/postgres/server.js';
import { type DatabaseService, openDatabases } from '../../src/databases/index.js';
import { inFull, testInFull } from '../helpers/full.js';
import { HeldModel } from '../helpers/held-model.js';
import { firstTokenModel } from '../helpers/model-variant.js';
import { serve } from '../helpers/processes.js';

describe.skipIf(NO_SERVER !== undefined)(
  `processes that serve one database${NO_SERVER ? ` (${NO_SERVER})` : ''}`,
  () => {
    let server: PostgresServer;
    let store: string;
    let directory: string;
    let models: Record<string, string>;
    const opened: DatabaseService[] = [];

    const begin = async (more: Record<string, string> = {}) => {
      opened.push(
        await openDatabases({ store: { url: store }, models: { ...models, ...more }, embedWorkers: 1 }),
      );
      return opened.at(-1) as DatabaseService;
    };
    const fill = async (databases: DatabaseService, id: string, count: number) => {
      await databases.catalog.create(id, {});
      const records = Array.from({ length: count }, (_, n) => ({ id: n + 1, data: { text: `text ${n}` } }));
      for (let at = 0; at < count; at += 250) {
        const batch = { records: records.slice(at, at + 250) };
        await databases.writer.upsertBatch(id, Buffer.from(JSON.stringify(batch)));
      }
    };

    beforeAll(async () => {
      directory = mkdtempSync(path.join(tmpdir(), 'cosift-models-'));
      models = { other: firstTokenModel(path.join(directory, 'other')) };
      server = await PostgresServer.start();
      store = await server.createDatabase();
    });
    afterAll(async () => {
      await Promise.all(opened.map((databases) => databases.close()));
      await server?.stop();
      rmSync(directory, { recursive: true, force: true });
    });

    test('every process tells its state, and each may cancel it', async () => {
      const [one, other] = [await begin(), await begin()];
      await fill(one, 'states', 60);
      await expect(other.reembeddings.find('states')).rejects.toMatchObject({
        code: 'reembedding_not_found',
      });
      await one.reembeddings.start('states', 'other');
      // The same at another process is the same re-embedding.
      expect(await other.reembeddings.start('states', 'other')).toMatchObject({ model: 'other' });
      const state = async (databases: DatabaseService) => (await databases.reembeddings.find('states')).state;
      await expect.poll(() => state(one)).toBe('done');
      await expect.poll(() => state(other)).toBe('done');
      expect(await other.reembeddings.find('states')).toMatchObject({ done: 60, records: 60 });
      expect((await other.catalog.describe('states')).model).toBe('other');

      // Enough to load the model, and not for a batch.
      const model = await HeldModel.start();
      model.allow(4);
      const [third, fourth] = [await begin({ first: model.source }), await begin({ first: model.source })];
      await fill(one, 'cancelled', inFull(500, 200));
      await third.reembeddings.start('cancelled', 'first');
      await expect(fourth.reembeddings.start('cancelled', 'all-MiniLM-L6-v2')).rejects.toMatchObject({
        code: 'reembedding_running',
      });
      await fourth.reembeddings.cancel('cancelled');
      for (const databases of [third, fourth]) {
        await expect
          .poll(() => databases.reembeddings.find('cancelled').catch(({ code }) => code))
          .toBe('reembedding_not_found');
      }
      expect((await third.catalog.describe('cancelled')).model).not.toBe('first');
      // They would take over a re-embedding with `first`, whose server ends now.
      await Promise.all([third.close(), fourth.close()]);
    });

    testInFull('another process goes on when the one that does it is killed', async () => {
      const one = await begin();
      await fill(one, 'taken', 1_000);
      await one.close();
      // Enough to load the model and for one batch of 256, and not for a second one.
      const model = await HeldModel.start();
      model.allow(12);
      const { command } = await serve(directory, '--store', store, '--models', model.setting);
      const other = await openDatabases({
        store: { url: store },
        models: { first: model.source },
        embedWorkers: 1,
        resume: true,
      });
      opened.push(other);
      // The service does it, because the lease is taken before this process sees the re-embedding.
      const started = fetch(
        `${/listening on (\S+)/.exec(command.stdout)?.[1]}/v1/databases/taken/reembedding`,
        {
          method: 'POST',
          headers: { 'x-api-key': 'key-of-the-command-line-tests', 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'first' }),
        },
      );
      expect((await started).ok).toBe(true);
      const done = async () => (await other.reembeddings.find('taken')).done;
      await expect.poll(done).toBeGreaterThan(0);
      command.child.kill('SIGKILL');
      await command.ended();
      const before = await done();
      expect((await other.reembeddings.find('taken')).state).not.toBe('done');
      model.allow(Number.POSITIVE_INFINITY);
      await expect.poll(done).toBeGreaterThan(before);
      await expect
        .poll(async () => (await other.reembeddings.find('taken')).state, { timeout: 120_000 })
        .toBe('done');
      expect((await other.catalog.describe('taken')).model).toBe('first');
    });
  },
);
