import { describe, expect, test } from 'vitest';
import { LIMITS } from '../../src/schema/index.js';
import type { OpenDatabases } from './open-databases.js';
import { testWholeOn } from './rounds.js';
import { SharedDatabases } from './shared-databases.js';
import type { TestDatabase } from './test-database.js';

const FILLER = 'The committee met on a Tuesday and discussed the budget. Nobody objected to the minutes. ';
const ANSWER = 'The violin was made in Cremona by Antonio Stradivari.';
const QUESTION = 'Who made the violin in Cremona?';
/** About 500 tokens, with the answer in the middle. */
const LONG = `${FILLER.repeat(12)}${ANSWER} ${FILLER.repeat(14)}`;
const SHORT = 'A tower with a lamp guides ships.';

interface Shown {
  id: string | number;
  relevance_score?: number;
  passage?: { column: string; start: number; end: number };
}

interface Listed {
  id: number;
  data: object;
  relevance_score: number;
  best_passages: { column: string; start: number; end: number; score: number; text: string }[];
  passages?: { column: string; start: number; end: number; vector: number[] }[];
}

/** Records whose text is longer than the window of the model, so that they have several vectors. */
export function describePassages(open: OpenDatabases): void {
  describe('long records', () => {
    const shared = SharedDatabases.use(open);
    const search = async (database: TestDatabase, text = QUESTION): Promise<Shown[]> => {
      const request = { search: { text, threshold: 0 }, passages: true };
      const results = (await database.drain('search', request)) as Shown[];
      return results.map(({ id, relevance_score, passage }) => ({
        id,
        relevance_score,
        ...(passage && { passage }),
      }));
    };
    const embed = { columns: ['text'] };

    test('are found by their best passage, which is shown where it is asked for', async () => {
      const database = await shared.create({ embed });
      await database.upsert([
        { id: 1, data: { text: LONG } },
        { id: 2, data: { text: SHORT } },
        { id: 3, data: { text: FILLER.repeat(30) } },
        { id: 4, data: { n: 1 } },
      ]);
      const found = await search(database);
      expect(found[0]).toMatchObject({ id: 1, passage: { column: 'text' } });
      const { start, end } = (found[0] as Shown & { passage: { start: number; end: number } }).passage;
      expect(LONG.slice(start, end)).toContain(ANSWER);
      expect(found.map(({ id }) => id).toSorted()).toEqual([1, 2, 3]);
      const { passages, without_text } = await database.describe();
      expect(passages).toBeGreaterThan(6);
      expect(without_text).toBe(1);
      expect(found.find(({ id }) => id === 2)).not.toHaveProperty('passage');
      const { results } = await database.search({ search: { text: QUESTION, threshold: 0 } });
      expect(results.map(({ id, relevance_score }) => [id, relevance_score])).toEqual(
        found.map(({ id, relevance_score }) => [id, relevance_score]),
      );
      for (const result of results) expect(result).not.toHaveProperty('passage');
      const explained = await database.search({ search: { text: QUESTION, threshold: 0 }, explain: true });
      expect(explained.results[0]).toMatchObject({ passage: found[0]?.passage });
    });

    testWholeOn(open)('show their best passages with texts, and what is beside them', async () => {
      const columns = ['title', 'text', 'tags'];
      const database = await shared.create({ embed: { columns } });
      await database.upsert([
        { id: 1, data: { title: 'Minutes 𝒞', text: LONG, n: 1 } },
        { id: 2, data: { title: 'Coast', text: SHORT, tags: ['lamp', 'tower'], n: 2 } },
        { id: 3, data: { title: `${FILLER.repeat(20)}𝒞`, text: `𝒞 ${FILLER.repeat(20)}${ANSWER}`, n: 3 } },
        { id: 4, data: { n: 4 } },
      ]);
      const { vectors: question } = await database.databases.texts.embed({ input: QUESTION }, {});
      const cosineTo = (vector: readonly number[]) => {
        const dot = vector.reduce((sum, value, at) => sum + value * (question[at] ?? 0), 0);
        return dot / Math.hypot(...vector) / Math.hypot(...question);
      };
      for (const [passages, neighbours] of [
        [1, undefined],
        [3, undefined],
        [3, 1],
        [64, 2],
      ] as const) {
        for (const shown of [undefined, ['n'], []]) {
          const request = {
            search: { text: QUESTION, threshold: 0 },
            passages,
            vectors: true,
            ...(neighbours && { neighbours }),
            ...(shown && { columns: shown }),
          };
          const { results } = (await database.search(request)) as unknown as { results: Listed[] };
          expect(results.map(({ id }) => id).toSorted()).toEqual([1, 2, 3]);
          for (const {
            id,
            data,
            relevance_score,
            best_passages: best,
            passages: stored,
            ...rest
          } of results) {
            expect(rest).not.toHaveProperty('passage');
            const whole = (await database.record(id)) as unknown as {
              data: Record<string, string | string[]>;
            };
            expect(Object.keys(data)).toEqual(shown ?? Object.keys(whole.data));
            const textOf = (column: string) => [whole.data[column] ?? ''].flat().join(', ');
            if (stored === undefined) {
              const texts = columns.filter((column) => whole.data[column] !== undefined).slice(0, passages);
              expect(best).toEqual(
                texts.map((column) => {
                  const text = textOf(column);
                  return { column, start: 0, end: text.length, score: relevance_score, text };
                }),
              );
              continue;
            }
            const scores = stored.map(({ vector }) => cosineTo(vector));
            const places = stored.map(({ column, start, end }, at) => {
              const near = stored
                .slice(Math.max(0, at - (neighbours ?? 0)), at + (neighbours ?? 0) + 1)
                .filter((other) => other.column === column);
              const [from, to] = [
                Math.min(start, ...near.map((other) => other.start)),
                Math.max(end, ...near.map((other) => other.end)),
              ];
              return { column, start: from, end: to, text: textOf(column).slice(from, to) };
            });
            const order = stored.map((_, at) => at).toSorted((a, b) => scores[b]! - scores[a]!);
            expect(best.map(({ score: _, ...place }) => place)).toEqual(
              order.slice(0, passages).map((at) => places[at]),
            );
            for (const [at, { score }] of best.entries()) expect(score).toBeCloseTo(scores[order[at]!]!, 7);
            expect(best[0]?.score).toBe(relevance_score);
          }
        }
      }
      const refused = (members: object) => database.search({ search: { text: QUESTION }, ...members });
      for (const [members, pointer] of [
        [{ passages: 0 }, '/passages'],
        [{ passages: 65 }, '/passages'],
        [{ passages: 1.5 }, '/passages'],
        [{ passages: 2, neighbours: 9 }, '/neighbours'],
        [{ passages: true, neighbours: 1 }, '/neighbours'],
        [{ neighbours: 1 }, '/neighbours'],
      ] as const) {
        await expect(refused(members), JSON.stringify(members)).rejects.toMatchObject({
          problems: [{ pointer }],
        });
      }
    });

    testWholeOn(open)('come once each, page by page, and are counted once', async () => {
      const database = await shared.create({ embed });
      const records = Array.from({ length: 24 }, (_, at) => {
        const topic = at % 3 === 0 ? ANSWER : SHORT;
        const text =
          at % 2 === 0 ? `${FILLER.repeat(at)}${topic} ${FILLER.repeat(26 - at)}` : `${topic} ${at}`;
        return { id: at + 1, data: { text, kind: at % 4 } };
      });
      await database.upsert(records);
      const all = await search(database);
      expect(all.map(({ id }) => id as number).toSorted((a, b) => a - b)).toEqual(
        records.map(({ id }) => id),
      );
      for (const limit of [1, 3, 7]) {
        const request = { search: { text: QUESTION, threshold: 0 } };
        const found = await database.drain('search', request, { limit: () => limit });
        expect(found.map(({ id, relevance_score }) => [id, relevance_score])).toEqual(
          all.map(({ id, relevance_score }) => [id, relevance_score]),
        );
      }
      for (const place of [5, 11, 17]) {
        const threshold = all[place]?.relevance_score as number;
        const passing = all.filter(({ relevance_score }) => (relevance_score as number) >= threshold);
        const page = await database.search({
          search: { text: QUESTION, threshold },
          total: true,
          facets: [{ column: 'kind' }],
          pagination: { limit: 2 },
        });
        expect(page.total).toEqual({ value: passing.length });
        const [facet] = page.facets as unknown as [{ values: { value: number; count: number }[] }];
        const counts = passing.map(({ id }) => ((id as number) - 1) % 4);
        for (const { value, count } of facet.values)
          expect(count).toBe(counts.filter((kind) => kind === value).length);
      }
    });

    test('keep their vectors through a patch of another column, and lose them with their text', async () => {
      const database = await shared.create({ embed });
      await database.upsert([
        { id: 1, data: { text: LONG } },
        { id: 2, data: { text: SHORT } },
      ]);
      const before = await search(database);
      await database.patch(1, { n: 5 });
      expect(await search(database)).toEqual(before);
      await database.patch(1, { text: SHORT });
      expect(await search(database)).toMatchObject([{ id: 1 }, { id: 2 }]);
      expect((await search(database))[0]).not.toHaveProperty('passage');
      await database.patch(1, { text: null });
      expect((await search(database)).map(({ id }) => id)).toEqual([2]);
      await database.patch(1, { text: LONG });
      expect(await search(database)).toEqual(before);
      await database.delete({ ids: [1] });
      expect((await search(database)).map(({ id }) => id)).toEqual([2]);
    });

    test('are exported and stored again with all vectors', async () => {
      const [database, copy] = [await shared.create({ embed }), await shared.create({ embed })];
      await database.upsert([
        { id: 1, data: { text: LONG } },
        { id: 2, data: { text: SHORT } },
      ]);
      const exported = await database.export({ vectors: true });
      const records = exported.map((line) => JSON.parse(line));
      expect(records[0].passages.length).toBeGreaterThan(2);
      await copy.upsert(records);
      expect(await copy.export({ vectors: true })).toEqual(exported);
      expect(await search(copy)).toEqual(await search(database));
    });

    testWholeOn(open)(
      'with too many passages are all named, and nothing is embedded for their batch',
      async () => {
        const database = await shared.create({ embed });
        const tooLong = (at: number) => `${at} ${LONG.repeat(40)}`;
        const texts = [
          SHORT,
          tooLong(1),
          ...Array.from({ length: 40 }, (_, at) => `${at} ${LONG}`),
          tooLong(2),
        ];
        const records = texts.map((text) => ({ data: { text } }));
        const inferences = async () => (await database.databases.monitor.stats()).embedder?.inferences;
        const before = await inferences();
        await expect(database.upsert(records)).rejects.toMatchObject({
          code: 'invalid_record',
          problems: [1, 42].map((at) => ({ pointer: `/records/${at}/data`, code: 'too_many_passages' })),
        });
        expect(await inferences()).toBe(before);
        expect(await database.count()).toBe(0);

        // In a stream, the other lines are stored.
        const lines = [SHORT, tooLong(1), LONG, tooLong(2)].map((text) => JSON.stringify({ data: { text } }));
        const events = await database.upsertLines(lines.join('\n'));
        expect(events.filter(({ type }) => type === 'problem')).toMatchObject([
          { line: 2, pointer: '/data', code: 'too_many_passages' },
          { line: 4, pointer: '/data', code: 'too_many_passages' },
        ]);
        expect(await database.count()).toBe(2);
      },
    );

    testWholeOn(open)(
      'are split as the settings say, which a change makes again in the background',
      async () => {
        const passages = { per_record: 100, tokens: 32, overlap: 0 };
        const database = await shared.create({ embed: { ...embed, passages } });
        expect((await database.describe()).embed).toEqual({ ...embed, passages });
        const texts = [LONG, SHORT, FILLER.repeat(2)];
        const records = texts.map((text, at) => ({ id: at + 1, data: { text } }));
        await database.upsert(records);
        const places = async (of: TestDatabase) =>
          (await of.export({ vectors: true }))
            .map((line) => JSON.parse(line) as Listed)
            .map(({ passages }) => passages?.map(({ start, end, vector }) => ({ start, end, vector })));
        const split = await places(database);
        // Shorter than the window of the model, but longer than 32 tokens.
        expect(split[2]?.length).toBeGreaterThan(1);
        expect(split[1]).toBeUndefined();
        for (const [at, { start, end }] of split[0]!.entries()) {
          expect(end - start).toBeLessThan(32 * 6);
          expect(start).toBeGreaterThanOrEqual(split[0]![at - 1]?.end ?? 0);
        }
        const change = async (change: object | null) => {
          const { catalog, reembeddings } = database.databases;
          await catalog.configure(database.id, { embed: change === null ? null : { passages: change } });
          await expect.poll(async () => (await reembeddings.find(database.id)).state).toBe('done');
        };
        const inferences = async () => (await database.databases.monitor.stats()).embedder?.inferences;
        const before = await inferences();
        await change({ per_record: 1 });
        expect(await inferences()).toBe(before);
        expect(await places(database)).toEqual(split);
        await expect(database.upsert([{ id: 9, data: { text: LONG } }])).rejects.toMatchObject({
          problems: [{ pointer: '/records/0/data', code: 'too_many_passages' }],
        });
        // What is stored stays, whatever else changes.
        await database.patch(1, { n: 1 });
        await change({ per_record: null, tokens: 64, overlap: 32 });
        expect((await database.describe()).embed).toEqual({
          ...embed,
          passages: { overlap: 32, tokens: 64 },
        });
        // A default that is written down makes no difference.
        const written = { per_record: 64, tokens: 64, overlap: 32 };
        const fresh = await shared.create({ embed: { ...embed, passages: written } });
        expect((await fresh.describe()).embed).toEqual((await database.describe()).embed);
        await fresh.upsert(records);
        expect(await places(database)).toEqual(await places(fresh));
        const [first, second] = (await places(fresh))[0]!;
        expect(second!.start).toBeLessThan(first!.end);
        await shared.opened.reopen();
        expect(await search(database)).toEqual(await search(fresh));
        await change({ tokens: null, overlap: null });
        expect((await database.describe()).embed).toEqual(embed);
        const plain = await shared.create({ embed });
        await plain.upsert(records);
        expect(await places(database)).toEqual(await places(plain));
      },
    );

    test('are refused settings that the model cannot have', async () => {
      const { catalog } = shared.databases;
      const refused = async (settings: object, pointer: string) => {
        const error = { code: 'invalid_request', problems: [{ pointer }] };
        await expect(catalog.create(shared.newId(), settings)).rejects.toMatchObject(error);
        return error;
      };
      const { id } = await shared.create({ embed });
      for (const [passages, pointer] of [
        [{ tokens: 257 }, '/embed/passages/tokens'],
        [{ tokens: 32, overlap: 17 }, '/embed/passages/overlap'],
        [{ overlap: 65 }, '/embed/passages/overlap'],
      ] as const) {
        const error = await refused({ embed: { passages } }, pointer);
        await expect(catalog.configure(id, { embed: { passages } })).rejects.toMatchObject(error);
      }
      await refused({ dimensions: 2, embed: { passages: { tokens: 32 } } }, '/embed/passages');
      expect((await catalog.describe(id)).embed).toEqual(embed);
    });

    testWholeOn(open)('may have 4,096 passages, which a search, an export and a change take', async () => {
      const settings = { embed: { ...embed, passages: { per_record: 4_096 } } };
      const [database, copy] = [await shared.create(settings), await shared.create(settings)];
      const { fingerprint } = await database.describe();
      const text = 'word '.repeat(4_096);
      const vectorOf = (at: number) => Array.from({ length: 384 }, (_, axis) => (axis === at % 384 ? 1 : 0));
      const passages = Array.from({ length: 4_096 }, (_, at) => ({
        column: 'text',
        start: 5 * at,
        end: 5 * at + 4,
        vector: vectorOf(at),
      }));
      const record = { id: 1, data: { text }, passages, embedded_by: fingerprint };
      // The vectors are more than the bytes that a record may have.
      const line = JSON.stringify(record);
      expect(line.length).toBeGreaterThan(LIMITS.record_bytes);
      expect(await database.upsertLines(line)).toMatchObject([
        { type: 'progress' },
        { created: 1, failed: 0 },
      ]);
      expect((await database.describe()).passages).toBe(4_096);
      const exported = await database.export({ vectors: true });
      const again = exported.map((line) => JSON.parse(line));
      expect(await copy.upsert([...again, { id: 2, data: { text: SHORT } }])).toMatchObject({ created: 2 });
      expect((await copy.export({ vectors: true })).at(0) === exported[0]).toBe(true);
      const request = { search: { text: QUESTION, threshold: 0 }, passages: 64, neighbours: 8 };
      const [found] = (await database.search(request)).results as unknown as Listed[];
      expect(found?.best_passages).toHaveLength(64);
      const one = [...passages, passages[0]];
      await expect(copy.upsert([{ ...record, passages: one }])).rejects.toMatchObject({
        problems: [{ pointer: '/records/0/passages', code: 'too_many_passages' }],
      });
      await database.patch(1, { n: 1 });
      await shared.opened.reopen();
      expect((await database.describe()).passages).toBe(4_096);
      expect((await database.search(request)).results[0]).toMatchObject({
        best_passages: found?.best_passages,
      });
      await database.delete({ ids: [1] });
      expect((await database.describe()).passages).toBe(0);
    });

    test('show passages with the words of a search first, as records of these texts would be', async () => {
      const database = await shared.create({ embed, lexical: true });
      const name = 'The part is called XK-77.';
      const text = `${FILLER.repeat(12)}😀 ${name} ${FILLER.repeat(14)}`;
      await database.upsert([{ id: 1, data: { text } }]);
      const search = { text: 'XK-77 of a violin', threshold: 0 };
      const listed = async (of: TestDatabase, lexical: number, more: object = {}) => {
        const { results } = await of.search({ search: { ...search, lexical }, passages: 64, ...more });
        return (results[0] as unknown as Listed).best_passages;
      };
      const [best, ...others] = await listed(database, 0.5);
      expect(best?.text).toContain(name);
      expect(text.slice(best!.start, best!.end)).toBe(best!.text);
      expect(others.map(({ score }) => score)).toEqual(
        others.map(({ score }) => score).toSorted((a, b) => b - a),
      );
      expect((await listed(database, 0.5, { passages: 1 })).length).toBe(1);
      const [meaning] = await listed(database, 0).then((all) =>
        all.filter(({ start }) => start === best!.start),
      );
      const [words] = await listed(database, 1).then((all) =>
        all.filter(({ start }) => start === best!.start),
      );
      expect(best!.score).toBeCloseTo((meaning!.score + words!.score) / 2, 8);
      const alone = await shared.create({ embed, lexical: true });
      await alone.upsert([{ id: 1, data: { text: best!.text } }]);
      const [whole] = await listed(alone, 0.5);
      expect(whole?.score).toBe(best?.score);
    });

    test('show the texts of a record that is not split by their scores, and no empty one', async () => {
      const columns = ['empty', 'title', 'text', 'notes'];
      const database = await shared.create({ embed: { columns }, lexical: true });
      const data = { empty: '', title: SHORT, text: 'The part is called XK-77.', notes: 'XK-77 of a violin' };
      await database.upsert([{ id: 1, data }]);
      const listed = async (lexical: number, passages: number) => {
        const search = { text: 'XK-77 of a violin', threshold: 0, lexical };
        const { results } = await database.search({ search, passages });
        return (results[0] as unknown as Listed).best_passages;
      };
      const all = await listed(0.5, 64);
      expect(all.map(({ column }) => column)).toEqual(['notes', 'text', 'title']);
      expect(all.map(({ score }) => score)).toEqual(all.map(({ score }) => score).toSorted((a, b) => b - a));
      expect(await listed(0.5, 1)).toEqual(all.slice(0, 1));
      expect((await listed(0, 64)).map(({ column }) => column)).toEqual(['title', 'text', 'notes']);
    });

    test('are searched for by the mean of the passages of a long text', async () => {
      const database = await shared.create({ embed });
      await database.upsert([
        { id: 1, data: { text: LONG } },
        { id: 2, data: { text: SHORT } },
      ]);
      const [best] = await search(database, LONG);
      expect(best?.id).toBe(1);
      const { vectors } = await database.databases.texts.embed({ input: LONG }, {});
      const [line] = await database.export({ vectors: true });
      const stored = (JSON.parse(line!) as Listed).passages!.map(({ vector }) => vector);
      const sum = stored[0]!.map((_, axis) => stored.reduce((sum, vector) => sum + vector[axis]!, 0));
      const length = Math.hypot(...sum);
      for (const [axis, value] of sum.entries()) expect(vectors[axis]).toBeCloseTo(value / length, 6);
      const again = await database.search({ search: { text: LONG, threshold: 0 } });
      expect(again.results[0]?.relevance_score).toBe(best?.relevance_score);
      await expect(database.search({ search: { text: '! '.repeat(9_000) } })).rejects.toMatchObject({
        code: 'invalid_request',
        problems: [{ pointer: '/search/text', code: 'value_too_long' }],
      });
    });
  });
}
