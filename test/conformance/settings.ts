import { describe, expect, test } from 'vitest';
import { inFull } from '../helpers/full.js';
import type { OpenDatabases } from './open-databases.js';
import { testWholeOn, timesOn } from './rounds.js';
import { SharedDatabases } from './shared-databases.js';
import type { TestDatabase } from './test-database.js';

const RECORDS = [
  { id: 1, data: { text: 'a tower of iron in Paris' } },
  { id: 2, data: { text: 'a tower of stone in London' } },
  { id: 3, data: { text: 'a lighthouse at the sea' } },
  { id: 4, data: { text: 'a violin and a cello' } },
  { id: 5, data: { text: 'a castle with two towers' } },
  { id: 6, data: { text: 'the iron of old bridges' } },
];
const TEXT = 'an iron tower';

/** Whether a page is one of those that are expected, or its beginning. */
function isPage(page: string, expected: readonly string[]): boolean {
  return expected.some((whole) => whole === page || whole.startsWith(`${page.slice(0, -1)},`));
}

/** Settings that are changed later, and what requests take of them. */
export function describeSettings(open: OpenDatabases): void {
  describe('settings', () => {
    const shared = SharedDatabases.use(open);
    const filled = async (settings: object): Promise<TestDatabase> => {
      const database = await shared.create({ embed: { columns: ['text'] }, ...settings });
      await database.upsert(RECORDS);
      return database;
    };
    const scored = async (database: TestDatabase, search: object) => {
      const { results } = await database.search({ search });
      return results.map(({ id, relevance_score }) => [id, relevance_score]);
    };

    test('a request takes the defaults of its database for what it leaves out', async () => {
      const defaults = { threshold: 0, lexical: 0.5, limit: 4 };
      const database = await filled({ lexical: true, defaults });
      expect(await database.describe()).toMatchObject({ lexical: true, defaults });
      const named = { text: TEXT, threshold: 0, lexical: 0.5 };
      const all = await database.search({ search: named, pagination: { limit: 100 } });
      expect(all.results).toHaveLength(6);
      const page = await database.search({ search: { text: TEXT } });
      expect(page.pagination.limit).toBe(4);
      expect(page.results).toEqual(all.results.slice(0, 4));
      expect((await database.query()).results).toHaveLength(4);
      // What a request names counts.
      const meaning = await database.search({ search: { text: TEXT, threshold: 0.3, lexical: 0 } });
      const others = await filled({});
      expect(meaning.results.map(({ id }) => id)).toEqual(
        (await others.search({ search: { text: TEXT, threshold: 0.3 } })).results.map(({ id }) => id),
      );
      // Only a text has words.
      const like = { like: { positive: [1] } };
      expect(await scored(database, like)).toEqual(
        await scored(others, { ...like, threshold: 0 }).then((all) => all.slice(0, 4)),
      );
      const [highlighted] = (await database.search({ search: { text: TEXT }, highlights: true })).results;
      expect(highlighted?.highlights?.text).toBeDefined();
      await expect(others.search({ search: { text: TEXT }, highlights: true })).rejects.toMatchObject({
        code: 'invalid_request',
        problems: [{ pointer: '/highlights' }],
      });
    });

    test('the words of chosen columns count by their weights, embedded or not', async () => {
      const { catalog } = shared.databases;
      const lexical = { columns: { sku: 4, name: 2, ['__proto__']: 1 } };
      const database = await shared.create({ embed: { columns: ['text'] }, lexical });
      const { id } = database;
      expect((await database.describe()).lexical).toEqual(lexical);
      await database.upsert([
        { id: 1, data: { text: 'gloves for winter', sku: 'AB-1234', name: 'warm' } },
        { id: 2, data: { text: 'gloves for work', sku: 77, name: 'AB-1234' } },
        { id: 3, data: { text: 'AB-1234', sku: 'CD-5', tags: ['AB-1234'] } },
      ]);
      const found = async (text: string) => {
        const search = { text, lexical: 1, threshold: 0.001 };
        const { results } = await database.search({ search, highlights: true });
        return results.map(({ id, relevance_score, highlights }) => [id, relevance_score, highlights]);
      };
      const AB = [
        [0, 2],
        [3, 7],
      ];
      const half = await found('AB-1234');
      expect(half).toEqual([
        [1, 1, { sku: AB }],
        [2, expect.any(Number), { name: AB }],
      ]);
      expect(half[1]?.[1]).toBeLessThan(0.5);
      // Numbers have words, too.
      expect(await found('77')).toEqual([[2, 1, { sku: [[0, 2]] }]]);

      expect(
        (await catalog.configure(id, { lexical: { columns: { sku: null, tags: 100 } } })).lexical,
      ).toEqual({
        columns: { name: 2, tags: 100, ['__proto__']: 1 },
      });
      expect((await found('AB-1234')).map(([id]) => id)).toEqual([3, 2]);
      expect(await found('77')).toEqual([]);
      expect((await catalog.configure(id, { lexical: true })).lexical).toBe(true);
      expect((await found('AB-1234')).map(([id]) => id)).toEqual([3]);
      expect((await catalog.configure(id, { lexical: null })).lexical).toBe(false);
      await expect(found('AB-1234')).rejects.toMatchObject({ problems: [{ pointer: '/search/lexical' }] });
      await catalog.configure(id, { lexical });
      expect(await found('AB-1234')).toEqual(half);

      // A match that counts for nothing is not marked.
      await database.upsert([{ id: 4, data: { text: 'magic', low: 'abracadabrafoobar', high: 'x' } }]);
      await catalog.configure(id, { lexical: { columns: { high: 100, low: 1 } } });
      const magic = { text: 'ab', lexical: 1, threshold: 0 };
      const { results } = await database.search({ search: magic, highlights: true });
      const marked = results.find(({ id }) => id === 4);
      expect([marked?.relevance_score, marked?.highlights]).toEqual([0, {}]);
      await catalog.configure(id, { lexical: null });
      await catalog.configure(id, { lexical });

      const none = { sku: null, name: null, ['__proto__']: null };
      const many = Object.fromEntries(Array.from({ length: 254 }, (_, at) => [`c${at}`, 1]));
      for (const columns of [none, many]) {
        await expect(catalog.configure(id, { lexical: { columns } })).rejects.toMatchObject({
          code: 'invalid_request',
          problems: [{ pointer: '/lexical/columns' }],
        });
      }
      expect((await database.describe()).lexical).toEqual(lexical);
    });

    test('a change merges with the settings, and null removes', async () => {
      const { catalog } = shared.databases;
      const database = await filled({ lexical: true });
      const { id } = database;
      const change = (changes: object) => catalog.configure(id, changes);
      expect(await change({ defaults: { threshold: 0.9, limit: 2 } })).toMatchObject({
        defaults: { threshold: 0.9, limit: 2 },
      });
      expect((await database.search({ search: { text: TEXT } })).results).toEqual([]);
      expect((await change({ defaults: { threshold: null, lexical: 0.4 } })).defaults).toEqual({
        lexical: 0.4,
        limit: 2,
      });
      expect(await scored(database, { text: TEXT })).toEqual(
        await scored(database, { text: TEXT, lexical: 0.4 }),
      );
      expect(
        await change({ defaults: null, formats: { price: '0.00', ['__proto__']: 'python' } }),
      ).not.toHaveProperty('defaults');
      const formats = (await change({ formats: { price: null } })).formats ?? {};
      expect(Object.entries(formats)).toEqual([['__proto__', 'python']]);
      expect(await change({ formats: null })).not.toHaveProperty('formats');
      expect((await database.query()).results).toHaveLength(6);

      // The index of the words is made again, and forgotten.
      expect(await change({ lexical: false })).not.toHaveProperty('lexical_records');
      await expect(database.search({ search: { text: TEXT, lexical: 0.4 } })).rejects.toMatchObject({
        code: 'invalid_request',
        problems: [{ pointer: '/search/lexical' }],
      });
      await change({ lexical: true });
      expect((await database.search({ search: { text: TEXT, lexical: 0.4 } })).results[0]?.id).toBe(1);
      await change({ lexical: null });
      expect(await database.describe()).toMatchObject({ lexical: false });
      await change({ lexical: true, defaults: { lexical: 1 } });
      await shared.opened.reopen();
      expect(await database.describe()).toMatchObject({ lexical: true, defaults: { lexical: 1 } });
    });

    test('settings that do not fit each other are refused, and nothing changes', async () => {
      const { catalog } = shared.databases;
      const { id } = await shared.create({ dimensions: 2, lexical: true, defaults: { lexical: 0.5 } });
      const needsWords = { code: 'invalid_request', problems: [{ pointer: '/defaults/lexical' }] };
      await expect(catalog.configure(id, { lexical: false, defaults: { limit: 3 } })).rejects.toMatchObject(
        needsWords,
      );
      await expect(catalog.create(shared.newId(), { defaults: { lexical: 0.5 } })).rejects.toMatchObject(
        needsWords,
      );
      expect(await catalog.describe(id)).toMatchObject({ lexical: true, defaults: { lexical: 0.5 } });
      await expect(catalog.configure(shared.newId(), {})).rejects.toMatchObject({
        code: 'database_not_found',
      });
    });

    test.each([
      [
        { threshold: 0, lexical: 0.5 },
        { threshold: 0.4, lexical: 0 },
      ],
      [{ threshold: 0.1 }, { lexical: 0.9 }],
      [{}, { threshold: 0.5, lexical: 0.5 }],
    ])('the pages of a search are of its first one: %j, then %j', async (first, then) => {
      const database = await filled({ lexical: true, defaults: first });
      const { catalog } = database.databases;
      const none = { threshold: null, lexical: null };
      for (const search of [{ text: TEXT }, { like: { positive: [1] } }, { text: TEXT, lexical: 0.2 }]) {
        await catalog.configure(database.id, { defaults: { ...none, ...first } });
        const all = await database.drain('search', { search });
        expect(all.length).toBeGreaterThan(1);
        const paged = await database.drain(
          'search',
          { search },
          {
            limit: () => 1,
            between: async () => {
              await catalog.configure(database.id, { defaults: { ...none, ...then } });
            },
          },
        );
        expect(paged).toEqual(all);
      }
    });

    test('a cursor of default words is refused where there are none any more', async () => {
      const database = await filled({ lexical: true, defaults: { lexical: 0.8, threshold: 0 } });
      const search = { text: TEXT };
      const { pagination } = await database.search({ search, pagination: { limit: 1 } });
      await database.databases.catalog.configure(database.id, { lexical: false, defaults: null });
      const next = database.search({ search, pagination: { limit: 1, cursor: pagination.next_cursor } });
      await expect(next).rejects.toMatchObject({
        code: 'invalid_cursor',
        problems: [{ pointer: '/pagination/cursor' }],
      });
    });

    test('boosts that leave too little for the default weight of words are refused, and the default is named', async () => {
      const database = await filled({ lexical: true, defaults: { lexical: 0.6 } });
      const filter = { condition: 'AND', rules: [{ column: 'text', operator: 'is_not_empty' }] };
      const boosted = (weight: number, lexical?: number) =>
        database.search({
          search: { text: TEXT, boosts: [{ weight, filter }], ...(lexical !== undefined && { lexical }) },
        });
      await expect(boosted(0.5)).rejects.toMatchObject({
        code: 'invalid_request',
        problems: [
          {
            pointer: '/search/boosts',
            detail: expect.stringContaining('the default lexical of the database is 0.6'),
          },
        ],
      });
      await boosted(0.4);
      await boosted(0.5, 0.5);
    });

    test('a cursor with other defaults than there can be is refused', async () => {
      const database = await filled({});
      for (const cursor of [
        '0.5_1~2,',
        '0.5_1~,x',
        '0.5_1~0.1',
        '0.5_1~,',
        '0.5_1~0x1,',
        '0.5_1~ 1,',
        '0.5_1~,1e0',
      ]) {
        await expect(
          database.search({ search: { text: TEXT }, pagination: { cursor } }),
          cursor,
        ).rejects.toMatchObject({ code: 'invalid_cursor', problems: [{ pointer: '/pagination/cursor' }] });
      }
    });

    test('other columns are embedded in the background: no page mixes them, and the last are those of a new database', async () => {
      const { catalog, reembeddings } = shared.databases;
      const columns = [['a'], ['b'], ['b', 'a'], undefined];
      const records = RECORDS.map(({ id, data }, at) => ({
        id,
        data: { a: data.text, b: RECORDS[(at * 5 + 2) % RECORDS.length]!.data.text, kept: true },
      }));
      const embedOf = (names: string[] | undefined) => (names === undefined ? {} : { columns: names });
      const search = {
        search: { text: TEXT, threshold: 0 },
        filter: { condition: 'AND', rules: [{ column: 'kept', operator: 'equals', value: true }] },
      };
      const pageOf = async (database: TestDatabase) =>
        JSON.stringify(
          (await database.search(search)).results.map(({ id, relevance_score }) => [id, relevance_score]),
        );
      const expected: string[] = [];
      for (const names of columns) {
        const fresh = await shared.create({ embed: embedOf(names) });
        await fresh.upsert(records);
        expected.push(await pageOf(fresh));
      }
      expect(new Set(expected).size).toBe(columns.length);

      const database = await shared.create({ embed: embedOf(columns[0]) });
      await database.upsert(records);
      const rounds = inFull([1, 2, 3, 4, 5, 6, 7], timesOn(open, [1, 2, 3], [3]));
      const ended = new AbortController();
      let written = 0;
      const write = async () => {
        while (!ended.signal.aborted) {
          written += 1;
          await database.upsert([
            { id: 100 + (written % 7), data: { a: `rain ${written}`, b: `snow ${written}` } },
          ]);
        }
      };
      const seen = new Set<string>();
      const read = async () => {
        while (!ended.signal.aborted) seen.add(await pageOf(database));
      };
      const others = [write(), write(), read(), read()];
      try {
        for (const round of rounds) {
          const embed = embedOf(columns[round % columns.length]);
          const changed = await catalog.configure(database.id, {
            embed: embed.columns === undefined ? null : embed,
            defaults: { limit: round },
          });
          expect(changed.defaults).toEqual({ limit: round });
          await expect.poll(async () => (await reembeddings.find(database.id)).state).toBe('done');
          expect(await database.describe()).toMatchObject({ embed, defaults: { limit: round } });
          await catalog.configure(database.id, { defaults: null });
          expect(await pageOf(database)).toBe(expected[round % columns.length]);
        }
      } finally {
        ended.abort();
        await Promise.all(others);
      }
      expect([...seen].filter((page) => !isPage(page, expected))).toEqual([]);
      expect(written).toBeGreaterThan(rounds.length);
      // What was written meanwhile has the text of the last columns.
      const fresh = await shared.create({ embed: embedOf(columns[3]) });
      const lines = (await database.export()).map((line) => JSON.parse(line) as { id: number; data: object });
      await fresh.upsert(lines.map(({ id, data }) => ({ id, data })));
      const all = { search: { text: 'rain and snow', threshold: 0 } };
      const scores = async (of: TestDatabase) =>
        (await of.drain('search', all)).map(({ id, relevance_score }) => [id, relevance_score]);
      expect(await scores(database)).toEqual(await scores(fresh));
    });

    testWholeOn(open)(
      'a change of the columns can be cancelled, and another one waits for that',
      async () => {
        const { catalog, reembeddings } = shared.databases;
        const database = await filled({});
        // So many texts that the change still runs when it is cancelled.
        const words = (n: number) => Array.from({ length: 100 }, (_, at) => `word ${n * at}`).join(' ');
        const long = Array.from({ length: 200 }, (_, n) => ({ data: { text: 'short', other: words(n) } }));
        await database.upsert(long);
        const before = await scored(database, { text: TEXT });
        const change = (embed: object | null) => catalog.configure(database.id, { embed });
        const { reembedding } = await change({ columns: ['other'] });
        if (reembedding !== undefined) {
          expect(reembedding).toMatchObject({ embed: { columns: ['other'] } });
          await change(null).catch((error) => expect(error).toMatchObject({ code: 'reembedding_running' }));
          await reembeddings.cancel(database.id);
          expect(await database.describe()).toMatchObject({ embed: { columns: ['text'] } });
          expect(await scored(database, { text: TEXT })).toEqual(before);
        }
        expect(await change({ columns: ['text'] })).toMatchObject({ embed: { columns: ['text'] } });
        const own = await shared.create({ dimensions: 2 });
        await expect(catalog.configure(own.id, { embed: { columns: ['a'] } })).rejects.toMatchObject({
          code: 'invalid_request',
          problems: [{ pointer: '/embed' }],
        });
      },
    );

    test('the same settings find a database, whatever else was changed', async () => {
      const { catalog } = shared.databases;
      const { id } = await shared.create({ dimensions: 2 });
      await catalog.configure(id, { lexical: true, defaults: { limit: 3 } });
      expect(await catalog.create(id, { dimensions: 2 })).toMatchObject({ created: false });
      expect(await catalog.create(id, { dimensions: 2, lexical: true })).toMatchObject({ created: false });
      await catalog.configure(id, { defaults: { lexical: 0.5 } });
      const same = { dimensions: 2, defaults: { limit: 3, lexical: 0.5 } };
      expect(await catalog.create(id, same)).toMatchObject({ created: false });
      for (const other of [{ lexical: false }, { defaults: { limit: 4 } }, { formats: { price: '0.00' } }]) {
        await expect(catalog.create(id, { dimensions: 2, ...other })).rejects.toMatchObject({
          code: 'database_exists',
        });
      }
    });
  });
}
