import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Backend, openBackend } from '../../src/backend/index.js';
import { isCode } from '../../src/errors.js';
import { NO_SERVER, PostgresServer } from '../helpers/postgres/server.js';

const RECORDS = 400;
/** Milliseconds without a write after which the writer counts as held. */
const HELD_MS = 300;

describe.skipIf(NO_SERVER !== undefined)(
  `a writer of another process${NO_SERVER ? ` (${NO_SERVER})` : ''}`,
  () => {
    let server: PostgresServer;
    const opened: Backend[] = [];
    beforeAll(async () => {
      server = await PostgresServer.start();
    }, 120_000);
    afterAll(async () => {
      await Promise.all(opened.map((backend) => backend.close()));
      await server?.stop();
    }, 60_000);

    test('that writes faster than texts are embedded does not keep a re-embedding from its end', async () => {
      const store = { url: await server.createDatabase() };
      let [written, held] = [0, 0];
      let wakes: (() => void)[] = [];
      /** A model that embeds a text only after two records were written, unless writes have to wait. */
      const slow = {
        dimensions: 2,
        fingerprint: 'slow',
        async embed(texts: readonly string[]) {
          const wanted = written + 2 * texts.length;
          while (written < wanted) {
            const before = written;
            await new Promise<void>((resolve) => {
              wakes.push(resolve);
              setTimeout(resolve, HELD_MS);
            });
            if (written === before) {
              held += 1;
              break;
            }
          }
          return texts.map((_, at) => [1, at]);
        },
      };
      const [embedding, writing] = [
        await openBackend({ store, models: { slow } }),
        await openBackend({ store, resume: false }),
      ];
      opened.push(embedding, writing);
      await embedding.createDatabase('db', { dimensions: 2 });
      let n = 0;
      const write = async () => {
        const records = Array.from({ length: 50 }, () => {
          n += 1;
          return { id: 1 + (n % RECORDS), data: { text: `text ${n}` }, vector: [1, n] };
        });
        await writing.upsertBatch('db', Buffer.from(JSON.stringify({ records })));
        written += records.length;
        for (const wake of wakes) wake();
        wakes = [];
      };
      while (written < RECORDS) await write();
      let running = true;
      const writer = (async () => {
        while (running) {
          await write().catch((error) => {
            // After the switch, the database embeds the texts itself.
            running = !isCode(error, 'invalid_vector');
            if (running && !isCode(error, 'busy')) throw error;
          });
        }
      })();
      try {
        await embedding.startReembedding('db', 'slow');
        const state = async () => (await embedding.reembedding('db')).state;
        await expect.poll(state, { timeout: 200_000, interval: 200 }).toBe('done');
      } finally {
        running = false;
        await writer;
      }
      expect(held).toBeGreaterThan(0);
      expect(await embedding.describeDatabase('db')).toMatchObject({ model: 'slow', records: RECORDS });
      const { body } = await embedding.search(
        'db',
        { search: { text: 'text', threshold: 0 }, pagination: { limit: 10 } },
        { variant: 'integer' },
      );
      expect(JSON.parse(Buffer.from(body).toString()).results).toHaveLength(10);
    }, 240_000);
  },
);
