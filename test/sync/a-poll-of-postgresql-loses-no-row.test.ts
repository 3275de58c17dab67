import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NO_SERVER, PostgresServer } from '../../scripts/postgres/server.js';
import { isCode } from '../../src/errors.js';
import type { Bookmark } from '../../src/sync/source.js';
import { PostgresSource } from '../../src/sync/sources/postgres/source.js';
import { inFull } from '../helpers/full.js';
import { Random } from '../helpers/random.js';
import { Follower } from './follower.js';
import { testOnceOf, VERSIONS } from './postgres-versions.js';
import { createItems, differences, itemsIn, write } from './written-table.js';

const WRITERS = 4;
const TRANSACTIONS = inFull(600, 120);

describe.skipIf(NO_SERVER !== undefined).each(VERSIONS)(
  `a poll of PostgreSQL %i${NO_SERVER ? ` (${NO_SERVER})` : ''}`,
  (version) => {
    let server: PostgresServer;
    let url: string;
    const testOnce = testOnceOf(version);
    beforeAll(async () => {
      server = await PostgresServer.start(version);
      url = await server.createDatabase();
    });
    afterAll(async () => {
      await server?.stop();
    });

    /** Follows the table while others write it. Returns the passes, and after how many of them the copy was wrong. */
    async function follow(spoil: (bookmark: Bookmark | null) => Bookmark | null, seed: number) {
      const observer = new pg.Client(url);
      await observer.connect();
      await createItems(observer, 50);
      const source = new PostgresSource(url, { table: 'items', columns: ['value'] });
      const follower = new Follower(source);
      let writing = true;
      const writer = (at: number) => {
        let left = TRANSACTIONS / WRITERS;
        const goesOn = () => left-- > 0;
        const random = new Random(seed * WRITERS + at);
        return write(url, { random, ids: 100, truncations: 100, refill: 0, goesOn });
      };
      const writers = Promise.all(Array.from({ length: WRITERS }, (_, at) => writer(at))).finally(() => {
        writing = false;
      });
      const counts = { passes: 0, keyScans: 0, unknown: 0, wrong: 0 };
      try {
        for (let last = false; ; ) {
          last = !writing;
          const pass = await follower.pass().catch(retried);
          if (pass === RETRIED) {
            last = false;
            continue;
          }
          const snapshot = (follower.bookmark as { snapshot: string }).snapshot;
          follower.bookmark = spoil(follower.bookmark);
          counts.passes += Number(pass !== undefined);
          counts.unknown += pass?.unknown ?? 0;
          counts.keyScans += Number(pass?.comparedKeys ?? false);
          const copy = new Map(
            [...follower.records].map(([key, text]) => [key, JSON.parse(text).data.value]),
          );
          const found = differences(copy, await itemsIn(observer, snapshot));
          counts.wrong += Number(Object.values(found).some((number) => number > 0));
          if (last) break;
        }
        await writers;
      } finally {
        await writers.catch(() => undefined);
        await source.close();
        await observer.end();
      }
      return counts;
    }

    test('has at each moment what the table had, under transactions of all kinds', async () => {
      const { passes, keyScans, unknown, wrong } = await follow((bookmark) => bookmark, version);
      expect({ unknown, wrong }).toEqual({ unknown: 0, wrong: 0 });
      expect(passes).toBeGreaterThan(10);
      expect(keyScans).toBeGreaterThan(2);
    });

    testOnce('would lose rows if it began with the first transaction that had not begun', async () => {
      const late = (bookmark: Bookmark | null) => {
        const [, next] = (bookmark as { snapshot: string }).snapshot.split(':');
        return { ...bookmark, horizon: next };
      };
      expect((await follow(late, version)).wrong).toBeGreaterThan(0);
    });

    testOnce(
      'would lose rows of savepoints if it began with the first open transaction of the list',
      async () => {
        const listed = (bookmark: Bookmark | null) => {
          const [, next = '', open = ''] = (bookmark as { snapshot: string }).snapshot.split(':');
          // The newest open transaction: savepoints of older ones have later numbers, and are in no list.
          return { ...bookmark, horizon: open.split(',').at(-1) || next };
        };
        expect((await follow(listed, version)).wrong).toBeGreaterThan(0);
      },
    );
  },
);

const RETRIED = Symbol('retried');

/** The table was truncated while it was read in chunks. */
function retried(error: unknown): typeof RETRIED {
  if (isCode(error, 'source_unavailable')) return RETRIED;
  throw error;
}
