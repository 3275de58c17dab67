import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NO_SERVER, PostgresServer } from '../../scripts/postgres/server.js';
import { type DatabaseService, openDatabases } from '../../src/databases/index.js';
import { isCode } from '../../src/errors.js';
import { testInFull } from '../helpers/full.js';

const RECORDS = 400;

describe.skipIf(NO_SERVER !== undefined)(
  `a writer of another process${NO_SERVER ? ` (${NO_SERVER})` : ''}`,
  () => {
    let server: PostgresServer;
    const opened: DatabaseService[] = [];
    const administrators: pg.Pool[] = [];
    beforeAll(async () => {
      server = await PostgresServer.start();
    });
    afterAll(async () => {
      await Promise.all(opened.map((databases) => databases.close()));
      await Promise.all(administrators.map((administrator) => administrator.end()));
      await server?.stop();
    });

    /** A process with the model `slow`, and another one, which writes to the database `db`. */
    const open = async (embed: (texts: readonly string[]) => Promise<void>) => {
      const url = await server.createDatabase();
      const slow = {
        dimensions: 2,
        fingerprint: 'slow',
        async embed(texts: readonly string[]) {
          await embed(texts);
          return texts.map((_, at) => [1, at]);
        },
      };
      const embedding = await openDatabases({ store: { url }, models: { slow } });
      const writing = await openDatabases({ store: { url }, resume: false });
      opened.push(embedding, writing);
      await embedding.catalog.create('db', { dimensions: 2 });
      let n = 0;
      /** Writes 50 of the records. */
      const write = async () => {
        const records = Array.from({ length: 50 }, () => {
          n += 1;
          return { id: 1 + (n % RECORDS), data: { text: `text ${n}` }, vector: [1, n] };
        });
        await writing.writer.upsertBatch('db', Buffer.from(JSON.stringify({ records })));
      };
      for (let at = 0; at < RECORDS; at += 50) await write();
      const administrator = new pg.Pool({ connectionString: url, max: 1 });
      administrators.push(administrator);
      /** Whether writers of other processes have to wait now. */
      const isHeld = async () => {
        const clock = 'extract(epoch FROM clock_timestamp()) * 1000';
        const text = `SELECT 1 FROM cosift.databases WHERE held_until > ${clock}`;
        return (await administrator.query(text)).rows.length > 0;
      };
      const state = async () => (await embedding.reembeddings.find('db')).state;
      return { embedding, write, isHeld, state };
    };

    test('that writes faster than texts are embedded does not keep a re-embedding from its end', async () => {
      let running = true;
      let written = 0;
      let held = 0;
      // A model that embeds a text only after two records were written, unless writes have to wait.
      const { embedding, write, isHeld, state } = await open(async (texts) => {
        const wanted = written + 2 * texts.length;
        while (running && written < wanted) {
          if (await isHeld()) {
            held += 1;
            return;
          }
          await sleep(10);
        }
      });
      const writer = (async () => {
        while (running) {
          await write().then(
            () => {
              written += 50;
            },
            (error) => {
              // After the switch, the database embeds the texts itself.
              running = !isCode(error, 'invalid_vector');
              if (running && !isCode(error, 'busy')) throw error;
            },
          );
        }
      })();
      try {
        await embedding.reembeddings.start('db', 'slow');
        await expect.poll(state, { timeout: 200_000, interval: 200 }).toBe('done');
      } finally {
        running = false;
        await writer;
      }
      expect(held).toBeGreaterThan(0);
      expect(await embedding.catalog.describe('db')).toMatchObject({ model: 'slow', records: RECORDS });
      const { body } = await embedding.reader.search(
        'db',
        { search: { text: 'text', threshold: 0 }, pagination: { limit: 10 } },
        { form: 'integer' },
      );
      expect(JSON.parse(Buffer.from(body).toString()).results).toHaveLength(10);
    });

    testInFull('goes on, slowed, however long a batch of texts takes', async () => {
      let isStuck = false;
      let continues = () => {};
      const continued = new Promise<void>((resolve) => {
        continues = resolve;
      });
      // A model that ends no text as soon as writers were held, until the test lets it.
      const { embedding, write, isHeld, state } = await open(async () => {
        isStuck ||= await isHeld();
        if (isStuck) await continued;
        else await write();
      });
      await embedding.reembeddings.start('db', 'slow');
      await expect.poll(() => isStuck, { timeout: 200_000, interval: 200 }).toBe(true);
      // Each of them is refused as busy if the hold lasts longer than writes wait.
      for (let writes = 0; writes < 5; writes += 1) {
        await expect.poll(isHeld, { interval: 20 }).toBe(true);
        await write();
      }
      continues();
      await expect.poll(state, { timeout: 200_000, interval: 200 }).toBe('done');
      expect(await embedding.catalog.describe('db')).toMatchObject({ model: 'slow', records: RECORDS });
    });
  },
);
