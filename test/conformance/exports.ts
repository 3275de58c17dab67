import { describe, expect, test } from 'vitest';
import { RECORD_FORMS } from '../helpers/forms.js';
import { Random } from '../helpers/random.js';
import type { OpenDatabases } from './open-databases.js';
import { timesOn } from './rounds.js';
import { SharedDatabases } from './shared-databases.js';
import { chunksOf, TestDatabase } from './test-database.js';
import { SEARCH } from './two-models.js';

const SECOND = 1000;
const WORDS = [
  '',
  'red',
  'a "quote"',
  'größe 😀',
  'line\nend\r',
  '\u0000\u2028',
  '007',
  '1.10',
  '123456789012345678901',
];

/** Records whose order of ids is not that of their writes, with every type of value. */
function records(random: Random, count: number): object[] {
  return Array.from({ length: count }, (_, at) => {
    const time = (plus: number) => new Date((at + plus) * SECOND).toISOString();
    return {
      id: 1 + ((at * 7919) % count) * 3,
      data: {
        [random.pick(['z', '10', '2', '__proto__', 'constructor'])]: random.next() * 10 ** random.below(30),
        text: random.pick(WORDS),
        ...(random.chance(50) && { maybe: random.pick([null, true, false, -0, 5e-324, 1e21, 2 ** 53]) }),
        n: at,
      },
      timestamps: { created_at: time(0), changed_at: time(1), synced_at: time(2) },
      vector: [random.next() - 0.5, random.next() - 0.5],
    };
  });
}

/** Vectors that are hard to keep: random, tiny, huge, near a rounding step, nearly of length 1. */
function vectors(random: Random, dimensions: number): number[][] {
  const fill = (value: () => number) => Array.from({ length: dimensions }, value);
  const one = fill(() => 0);
  one[dimensions - 1] = -1e-30;
  const steps = Math.floor(2 ** 30 / Math.sqrt(dimensions));
  return [
    ...Array.from({ length: 40 }, () => fill(() => random.next() - 0.5)),
    fill(() => random.next() * 1e-20),
    fill(() => (random.next() - 0.5) * 1e30),
    ...[-0.5, -0.49, 0, 0.49, 0.5].map((part) => fill(() => (steps + part) / 2 ** 30)),
    fill(() => random.pick([-1, 1]) * 2 ** -random.below(40)),
    fill(() => Math.fround(random.next() - 0.5)),
    one,
  ];
}

const isEven = { rules: [{ column: 'even', operator: 'equals' as const, value: true }] };

/** Exports of a database. */
export function describeExports(open: OpenDatabases): void {
  describe('an export', () => {
    const shared = SharedDatabases.use(open);

    test('has all of every record in the order of the ids, and is taken back as it is', async () => {
      const random = new Random(31);
      const database = await shared.create();
      const copy = await shared.create();
      for (const half of [records(random, 1_500).slice(0, 800), records(new Random(31), 1_500).slice(800)]) {
        await database.upsert(half);
      }
      const lines = await database.export({ vectors: true });
      const ids = lines.map((line) => JSON.parse(line).id as number);
      expect(ids).toEqual(Array.from({ length: 1_500 }, (_, at) => 1 + 3 * at));
      const text = lines.map((line) => `${line}\n`).join('');
      const events = await copy.upsertLines(text);
      expect(events.at(-1)).toMatchObject({ created: 1_500, changed: 0, unchanged: 0, failed: 0 });
      expect(await copy.export({ vectors: true })).toEqual(lines);
      expect((await copy.upsertLines(text)).at(-1)).toMatchObject({
        created: 0,
        changed: 0,
        unchanged: 1_500,
      });
      for (const form of RECORD_FORMS) {
        const search = { search: { vector: [1, -1], threshold: 0 } };
        for (const [operation, request] of [
          ['search', search],
          ['query', {}],
        ] as const) {
          const pages = [];
          for (const side of [database, copy]) {
            const first = await side.ask(operation, request, { form });
            const cursor = first.pagination.next_cursor;
            pages.push([first, await side.ask(operation, { ...request, pagination: { cursor } }, { form })]);
          }
          expect(pages[0], `${operation} ${form}`).toEqual(pages[1]);
        }
      }
    });

    test('keeps vectors bit for bit, however they were given', async () => {
      const random = new Random(32);
      for (const dimensions of timesOn(open, [1, 2, 3, 384], [3, 384])) {
        const given = vectors(random, dimensions);
        const databases = [await shared.create({ dimensions }), await shared.create({ dimensions })];
        const [asJson, typed] = databases as [TestDatabase, TestDatabase];
        await asJson.upsert(given.map((vector, at) => ({ id: at + 1, data: {}, vector })));
        const ids = given.map((_, at) => ({ id: at + 1, data: {} }));
        const floats = Float32Array.from(
          given.flatMap((vector) => vector.map((part) => part * (Math.abs(part) < 1e-9 ? 1e9 : 1))),
        );
        await typed.upsert(ids, { vectors: floats });
        for (const database of databases) {
          const lines = await database.export({ vectors: true });
          const exported = lines.map((line) => JSON.parse(line));
          // Once as a batch and once as lines.
          const batch = await shared.create({ dimensions });
          await batch.upsert(exported);
          expect(await batch.export({ vectors: true })).toEqual(lines);
          const stream = await shared.create({ dimensions });
          await stream.upsertLines(lines.join('\n'));
          expect(await stream.export({ vectors: true })).toEqual(lines);
          for (const { vector } of exported) {
            for (const part of vector) expect(Number.isInteger(part * 2 ** 30)).toBe(true);
          }
        }
      }
    });

    test('shows the records as they were when it began', async () => {
      const database = await shared.create();
      const random = new Random(33);
      for (let at = 0; at < 4; at++) {
        const thousand = records(random, 4_000).slice(at * 1_000, at * 1_000 + 1_000);
        await database.upsert(thousand);
      }
      const before = await database.export();
      const chunks = database.databases.exports.lines(database.id, {})[Symbol.asyncIterator]();
      let text = Buffer.from((await chunks.next()).value!).toString();
      await database.delete({ filter: { rules: [{ column: 'n', operator: 'less_than', value: 2_000 }] } });
      await database.upsert(records(new Random(34), 1_000));
      for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
        text += Buffer.from(next.value).toString();
      }
      expect(text.split('\n').slice(0, -1)).toEqual(before);
    });

    test('has the records of a filter that the filter of the key lets pass', async () => {
      const database = await shared.create();
      await database.upsert(
        Array.from({ length: 20 }, (_, at) => ({
          id: at + 1,
          data: { even: at % 2 === 1, n: at },
          vector: [1, at],
        })),
      );
      const filter = { rules: [{ column: 'n', operator: 'less_than' as const, value: 5 }] };
      const ids = async (...asked: Parameters<TestDatabase['export']>) =>
        (await database.export(...asked)).map((line) => JSON.parse(line).id);
      expect(await ids({ filter })).toEqual([1, 2, 3, 4, 5]);
      expect(await ids({ filter }, { forcedFilter: isEven })).toEqual([2, 4]);
      expect(
        await ids({}, { forcedFilter: { rules: [{ column: 'n', operator: 'equals', value: 99 }] } }),
      ).toEqual([]);
    });

    test('ends when its database is dropped, and when its caller stops', async () => {
      const database = await shared.create();
      for (let at = 0; at < 4; at++) await database.upsert(records(new Random(at), 1_000));
      const begin = async (signal?: AbortSignal) => {
        const options = signal && { signal };
        const chunks = database.databases.exports.lines(database.id, {}, options)[Symbol.asyncIterator]();
        await chunks.next();
        return chunks;
      };
      const stop = new AbortController();
      const stopped = await begin(stop.signal);
      stop.abort(new Error('enough'));
      await expect(stopped.next()).rejects.toThrow('enough');
      await expect(database.export({}, { signal: stop.signal })).rejects.toThrow('enough');
      const left = await begin();
      await left.return?.();
      expect((await left.next()).done).toBe(true);
      const dropped = await begin();
      await database.databases.catalog.drop(database.id);
      await expect(dropped.next()).rejects.toMatchObject({ code: 'database_not_found' });
      await database.databases.catalog.create(database.id, { dimensions: 2 });
      await expect(begin()).resolves.toBeDefined();
      await expect(new TestDatabase(shared.opened, 'none').export()).rejects.toMatchObject({
        code: 'database_not_found',
      });
    });

    test('of too many at once is refused, until another ends', async () => {
      const database = await shared.create();
      await database.upsert(records(new Random(1), 10));
      const begin = async () => {
        const chunks = database.databases.exports.lines(database.id, {})[Symbol.asyncIterator]();
        await chunks.next();
        return chunks;
      };
      const begun: AsyncIterator<Uint8Array>[] = [];
      let refused: unknown;
      while (refused === undefined && begun.length < 1_000) {
        await begin().then(
          (chunks) => begun.push(chunks),
          (error) => {
            refused = error;
          },
        );
      }
      expect(refused).toMatchObject({ code: 'busy' });
      await begun[0]?.return?.();
      await expect(begin()).resolves.toBeDefined();
      for (const chunks of begun) await chunks.return?.();
    });

    test('does not hold up a close, even if nobody reads it', async () => {
      const opened = await open();
      try {
        await opened.databases.catalog.create('db', { dimensions: 2 });
        const database = new TestDatabase(opened, 'db');
        for (let at = 0; at < 4; at++) await database.upsert(records(new Random(at), 1_000));
        const chunks = opened.databases.exports.lines('db', {})[Symbol.asyncIterator]();
        await chunks.next();
        await opened.databases.close();
        await expect(chunks.next()).rejects.toMatchObject({ code: 'not_ready' });
        await expect(database.export()).rejects.toMatchObject({ code: 'not_ready' });
      } finally {
        await opened.close();
      }
    });

    test('with the vectors of a model is taken back by a database of the same model without embedding', async () => {
      const database = await shared.create({});
      const copy = await shared.create({});
      const { fingerprint } = await database.describe();
      const texts = ['a tower in Paris', 'a violin', 'melting ice', 'the falcon flies', ''];
      await database.upsert(texts.map((text, at) => ({ id: 9 - at, data: { text } })));
      const lines = await database.export({ vectors: true });
      const exported = lines.map((line) => JSON.parse(line));
      expect(exported.map(({ embedded_by }) => embedded_by)).toEqual([
        undefined,
        ...Array.from({ length: 4 }, () => fingerprint),
      ]);
      const before = (await database.databases.monitor.stats()).embedder!.inferences;
      expect((await copy.upsertLines(lines.join('\n'))).at(-1)).toMatchObject({ created: 5, failed: 0 });
      expect((await database.databases.monitor.stats()).embedder!.inferences).toBe(before);
      expect(await copy.export({ vectors: true })).toEqual(lines);
      expect(await copy.search(SEARCH)).toEqual(await database.search(SEARCH));
      // The text is the content: with its vector or without, the record is unchanged.
      const bare = lines.map((line) => {
        const { vector: _, embedded_by: __, ...record } = JSON.parse(line);
        return JSON.stringify(record);
      });
      expect((await copy.upsertLines(bare.join('\n'))).at(-1)).toMatchObject({ unchanged: 5 });
      expect((await database.upsertLines(lines.join('\n'))).at(-1)).toMatchObject({ unchanged: 5 });
      const [, line] = exported;
      const wrong = { ...line, embedded_by: 'another' };
      for (const [record, pointer] of [
        [wrong, '/embedded_by'],
        [{ ...line, embedded_by: undefined }, '/vector'],
        [{ ...line, vector: undefined }, '/embedded_by'],
      ] as const) {
        await expect(copy.upsert([record]), pointer).rejects.toMatchObject({
          code: 'invalid_vector',
          problems: [{ pointer: `/records/0${pointer}`, code: 'invalid_vector' }],
        });
        const [problem] = await copy.upsertLines(chunksOf([JSON.stringify(record)]));
        expect(problem).toMatchObject({ type: 'problem', pointer, code: 'invalid_vector' });
      }
    });
  });
}
