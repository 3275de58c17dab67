import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Backend, openBackend } from '../../src/backend/index.js';
import { firstTokenModel } from '../helpers/model-variant.js';
import { NO_SERVER, PostgresServer } from '../helpers/postgres/server.js';
import { serve } from '../helpers/processes.js';

describe.skipIf(NO_SERVER !== undefined)(
  `processes that serve one database${NO_SERVER ? ` (${NO_SERVER})` : ''}`,
  () => {
    let server: PostgresServer;
    let store: string;
    let directory: string;
    let models: Record<string, string>;
    const opened: Backend[] = [];

    const begin = async () => {
      opened.push(await openBackend({ store: { url: store }, models, embedWorkers: 1 }));
      return opened.at(-1) as Backend;
    };
    const fill = async (backend: Backend, id: string, count: number) => {
      await backend.createDatabase(id, {});
      const records = Array.from({ length: count }, (_, n) => ({ id: n + 1, data: { text: `text ${n}` } }));
      for (let at = 0; at < count; at += 250) {
        const batch = { records: records.slice(at, at + 250) };
        await backend.upsertBatch(id, Buffer.from(JSON.stringify(batch)));
      }
    };

    beforeAll(async () => {
      directory = mkdtempSync(path.join(tmpdir(), 'cosift-models-'));
      models = { other: firstTokenModel(path.join(directory, 'other')) };
      server = await PostgresServer.start();
      store = await server.createDatabase();
    }, 120_000);
    afterAll(async () => {
      await Promise.all(opened.map((backend) => backend.close()));
      await server?.stop();
      rmSync(directory, { recursive: true, force: true });
    }, 60_000);

    test('every process tells its state, and each may cancel it', async () => {
      const [one, other] = [await begin(), await begin()];
      await fill(one, 'states', 60);
      await expect(other.reembedding('states')).rejects.toMatchObject({ code: 'reembedding_not_found' });
      await one.startReembedding('states', 'other');
      // The same at another process is the same re-embedding.
      expect(await other.startReembedding('states', 'other')).toMatchObject({ model: 'other' });
      const state = async (backend: Backend) => (await backend.reembedding('states')).state;
      await expect.poll(() => state(one)).toBe('done');
      await expect.poll(() => state(other)).toBe('done');
      expect(await other.reembedding('states')).toMatchObject({ done: 60, records: 60 });
      expect((await other.describeDatabase('states')).model).toBe('other');

      await fill(one, 'cancelled', 500);
      await one.startReembedding('cancelled', 'other');
      await expect(other.startReembedding('cancelled', 'all-MiniLM-L6-v2')).rejects.toMatchObject({
        code: 'reembedding_running',
      });
      await other.cancelReembedding('cancelled');
      for (const backend of [one, other]) {
        await expect
          .poll(() => backend.reembedding('cancelled').catch(({ code }) => code))
          .toBe('reembedding_not_found');
      }
      expect((await one.describeDatabase('cancelled')).model).not.toBe('other');
    }, 180_000);

    test('another process goes on when the one that does it is killed', async () => {
      const one = await begin();
      await fill(one, 'taken', 1_000);
      await one.close();
      const { command } = await serve(directory, '--store', store, '--models', `other=${models.other}`);
      const other = await openBackend({ store: { url: store }, models, embedWorkers: 1, resume: true });
      opened.push(other);
      // The service does it, because the lease is taken before this process sees the re-embedding.
      const started = fetch(
        `${/listening on (\S+)/.exec(command.stdout)?.[1]}/v1/databases/taken/reembedding`,
        {
          method: 'POST',
          headers: { 'x-api-key': 'key-of-the-command-line-tests', 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'other' }),
        },
      );
      expect((await started).ok).toBe(true);
      const done = async () => (await other.reembedding('taken')).done;
      await expect.poll(done).toBeGreaterThan(0);
      command.child.kill('SIGKILL');
      await command.ended();
      const before = await done();
      expect((await other.reembedding('taken')).state).not.toBe('done');
      await expect.poll(done, { timeout: 60_000 }).toBeGreaterThan(before);
      await expect
        .poll(async () => (await other.reembedding('taken')).state, { timeout: 120_000 })
        .toBe('done');
      expect((await other.describeDatabase('taken')).model).toBe('other');
    }, 240_000);
  },
);
