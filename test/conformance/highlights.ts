import { beforeAll, describe, expect, test } from 'vitest';
import { RECORD_FORMS } from '../helpers/forms.js';
import { Random } from '../helpers/random.js';
import type { OpenDatabases } from './open-databases.js';
import { expectRefusal } from './refusal.js';
import { timesOn } from './rounds.js';
import { SharedDatabases } from './shared-databases.js';
import type { Page, TestDatabase } from './test-database.js';
import { highlightsOf } from './words-oracle.js';

const WORDS = [
  'tower',
  'Towers',
  'TOWRE',
  'gcc',
  'gccgo',
  'libgtk-3-0',
  'c++',
  'os.path_name',
  'Crème',
  'cre\u0300me\u0327',
  'ﬁre',
  'fire',
  'fox',
  'firefox',
  'İstanbul',
  'ıstanbul',
  'ISTANBUL',
  'don’t',
  "don't",
  '𝒙2',
  'straße',
  'STRASSE',
  '한국어',
  '\u1112\u1161\u11ab국',
  '🎉',
  '👩‍🚀',
  '3.11',
  '4711',
  'the',
  '\u0301',
  'ｆｉｒｅ',
  'σίσυφος',
  'ΣΊΣΥΦΟΣ',
];
const SMALL = {
  condition: 'AND' as const,
  rules: [{ column: 'n', operator: 'less_than' as const, value: 4000 }],
};
const EMBEDDED = ['text', 'title', 'n', 'open'];

/** `highlights`: which words of results match those of the search. */
export function describeHighlights(open: OpenDatabases): void {
  describe('highlights', () => {
    const shared = SharedDatabases.use(open);
    const random = new Random(31);
    const text = (max: number) => {
      const words = Array.from({ length: 1 + random.below(max) }, () => random.pick(WORDS));
      return words.join(random.pick([' ', ' ', ', ', '\n', '-', '']));
    };
    let database: TestDatabase;

    beforeAll(async () => {
      database = await shared.create({ embed: { columns: EMBEDDED }, lexical: true });
      const records = Array.from({ length: 60 }, (_, at) => ({
        id: at + 1,
        data: {
          title: text(2),
          ...(random.chance(80) && { text: text(8) }),
          n: random.pick([4711, 3.11, 1e21, -0.5]),
          other: text(4),
          ...(random.chance(30) && { open: random.chance(50) }),
        },
      }));
      await database.upsert(records);
    });

    test('are the words that match, in any request, on any page (seed 31)', async () => {
      let [places, wholes] = [0, 0];
      const rounds = timesOn(open, 60, 15);
      for (let round = 0; round < rounds; round++) {
        const query = random.chance(20) ? `${text(8)} ${text(70)}` : text(3);
        const search = { text: query, threshold: 0, lexical: 1 };
        const columns = random.chance(40) && ['other', 'n', 'text'].filter(() => random.chance(60));
        const request = {
          search,
          highlights: true,
          ...(columns && { columns }),
          ...(random.chance(30) && {
            filter: SMALL,
          }),
          ...(random.chance(20) && { explain: true }),
          ...(random.chance(20) && { passages: true }),
          ...(random.chance(20) && { vectors: true }),
        };
        // Explained searches need a text that the model knows.
        if (request.explain || request.passages) search.text += ' tower';
        const form = random.pick(RECORD_FORMS);
        const found = await database.drain('search', request, { form, limit: () => random.pick([7, 100]) });
        const { highlights: _, columns: __, ...whole } = request;
        const shown = columns ? EMBEDDED.filter((name) => columns.includes(name)) : EMBEDDED;
        const records = await database.drain('search', whole, { form });
        expect(found.map(({ id }) => id)).toEqual(records.map(({ id }) => id));
        for (const [at, { highlights }] of found.entries()) {
          const data = records[at]?.data ?? {};
          expect(highlights, JSON.stringify([search.text, data])).toEqual(
            highlightsOf(data, search.text, shown),
          );
          places += Object.values(highlights ?? {}).flat().length;
          wholes += Number(Object.keys(highlights ?? {}).length > 1);
        }
      }
      expect(places).toBeGreaterThan(33 * rounds);
      expect(wholes).toBeGreaterThan(rounds);
    });

    test('are only where they are asked for, and change nothing else', async () => {
      const request = { search: { text: 'tower', threshold: 0, lexical: 0.5 }, total: true };
      const plain = await database.search({ ...request, highlights: false });
      const shown = await database.search({ ...request, highlights: true });
      for (const result of plain.results) expect(result).not.toHaveProperty('highlights');
      for (const result of shown.results) {
        expect(result).toHaveProperty('highlights');
        delete result.highlights;
      }
      expect(shown).toEqual(plain);
      const [batched, other] = await database.searches([{ ...request, highlights: true }, request]);
      expect((batched as Page).results[0]).toHaveProperty('highlights');
      expect(other).toEqual(plain);
    });

    test('are of the columns that are strings, where none are named', async () => {
      const strings = await shared.create({ dimensions: 2, lexical: true });
      await strings.upsert([
        { id: 1, data: { b: 'a red 🦊 fox', n: 4711, a: '4711 foxes', __proto__x: 'fox' }, vector: [1, 0] },
        { id: 2, data: { n: 4711 }, vector: [1, 0] },
      ]);
      const search = { vector: [1, 0], text: '4711 fox', lexical: 0.5, threshold: 0 };
      const { results } = await strings.search({ search, highlights: true });
      expect(results.map(({ highlights }) => highlights)).toEqual([
        {
          b: [[9, 12]],
          a: [
            [0, 4],
            [5, 10],
          ],
          __proto__x: [[0, 3]],
        },
        {},
      ]);
    });

    test('are none where words do not count', async () => {
      const none = async (search: object, asked = database) => {
        const { results } = await asked.search({ search: { threshold: 0, ...search }, highlights: true });
        expect(results.length).toBeGreaterThan(0);
        for (const { highlights } of results) expect(highlights).toEqual({});
      };
      await none({ text: 'tower', lexical: 0 });
      await none({ text: '++ !', lexical: 1 });
      await none({ like: { positive: [1] }, lexical: 0.5 });
      const plain = await shared.create();
      await plain.upsert([{ id: 1, data: { text: 'tower' }, vector: [1, 0] }]);
      await none({ vector: [1, 0], text: 'tower', lexical: 0 }, plain);
    });

    test('are refused without a weight of words', async () => {
      const ask = (request: object) => async () => await database.search(request);
      const search = { text: 'tower' };
      await expectRefusal(ask({ search, highlights: true })(), 'invalid_request', '/highlights');
      await expectRefusal(
        ask({ search: { like: { positive: [1] } }, highlights: true })(),
        'invalid_request',
        '/highlights',
      );
      for (const highlights of [null, 1, 'true', {}, []]) {
        const request = { search: { ...search, lexical: 0.5 }, highlights };
        await expectRefusal(ask(request)(), 'invalid_request', '/highlights');
      }
      await expectRefusal(
        (async () => await database.query({ highlights: true }))(),
        'invalid_request',
        '/highlights',
      );
    });

    test('of a key with a filter are those of the records that it sees', async () => {
      const request = { search: { text: 'tower', threshold: 0, lexical: 1 }, highlights: true };
      const all = await database.search({ ...request, filter: SMALL });
      const seen = await database.search(request, { forcedFilter: SMALL });
      expect(seen).toEqual(all);
    });
  });
}
