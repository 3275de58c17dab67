import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { type Cosift, type CosiftError, type Database, type DatabaseChanges, open } from 'cosift';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { inFull } from '../helpers/full.js';
import { Random } from '../helpers/random.js';
import { models, steps } from './models-of-two-angles.mjs';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'cosift-settings-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const CHANGES = inFull(25, 10);
const WRITERS = 8;
const RECORDS_OF_WRITER = 15;

interface Content extends Record<string, string | number> {
  b: string;
  a: string;
  'at.x': number;
  'at.y': number;
}

/** The number of a text in a column, which decides the angle of its vector. */
const numberOf = (data: Content, column: 'a' | 'b') => Number(data[column].match(/\d+/)![0]);

/** The first column that is embedded; without columns, the first one of the data. */
const EMBEDS = [{ columns: ['a'] }, { columns: ['b'] }, { columns: ['a', 'b'] }, null];

/** The columns whose words are indexed. */
const WORDS: DatabaseChanges['lexical'][] = [{ columns: { a: 2 } }, { columns: { b: 3 } }, true];

/** Whether all scores are those of one model and one embedded column. */
function isOfOneState(
  results: readonly { data: Content; relevance_score: number }[],
  query: number,
): boolean {
  return Object.values(steps).some((step) =>
    (['a', 'b'] as const).some((column) =>
      results.every(({ data, relevance_score }) => {
        const angle = step * (query - numberOf(data, column));
        return Math.abs(relevance_score - Math.max(0, Math.cos(angle))) < 1e-6;
      }),
    ),
  );
}

test('no answer mixes settings that change under eight writers and two readers', async () => {
  const random = new Random(3);
  await using cosift = await open(directory, { models });
  const database = await cosift.createDatabase<Content>('d', { model: 'first' });
  const counts = { written: 0, refused: 0, scores: 0, words: 0, pages: 0, descriptions: 0 };
  const data = (writer: number, x: number): Content => ({
    b: `beta ${random.below(20)}`,
    a: `alpha ${random.below(20)}`,
    writer,
    'at.x': x,
    'at.y': x,
  });
  const write = async (writer: number) => {
    const records = Array.from({ length: RECORDS_OF_WRITER }, (_, at) => ({
      id: 1 + writer * RECORDS_OF_WRITER + at,
      data: data(writer, random.below(1_000)),
    }));
    const nested = records.map(({ id, data: { 'at.x': x, 'at.y': y, ...others } }) => ({
      id,
      data: { ...others, at: { x, y } },
    }));
    await cosift
      .database('d')
      .upsert(nested)
      .catch(async (error) => {
        // Objects are not flattened now.
        expect(error).toMatchObject({ code: 'invalid_record' });
        expect((error as CosiftError).problems.every(({ pointer }) => pointer.endsWith('/data/at'))).toBe(
          true,
        );
        counts.refused += records.length;
        await database.upsert(records);
      });
    counts.written += records.length;
  };
  for (let writer = 0; writer < WRITERS; writer += 1) await write(writer);
  await using other = await open(directory, { readOnly: true, models });

  const seen = { states: new Set<string>(), words: new Set<number>(), limits: new Set<number>() };
  let ended = false;
  const writing = async (writer: number) => {
    while (!ended) {
      await write(writer);
      await setImmediate();
    }
  };
  const all = WRITERS * RECORDS_OF_WRITER;
  const turns = [0, 0];
  const reading = async (read: Database<Content>, reader: number) => {
    for (; !ended; turns[reader]! += 1) {
      const query = random.below(20);
      const scored = await read.search(`number ${query}`, { threshold: 0, limit: 100, lexical: 0 });
      expect(isOfOneState(scored.results, query), JSON.stringify(scored.results)).toBe(true);
      expect(scored.results.filter(({ data }) => data['at.x'] !== data['at.y'])).toEqual([]);
      counts.scores += 1;

      const words = await read
        .search('alpha', { threshold: 0.000001, limit: 100, lexical: 1, total: true })
        .catch((error) => {
          // The words are not indexed now.
          expect(error).toMatchObject({ code: 'invalid_request' });
        });
      // Every record has the word in one column and not in the other one.
      if (words !== undefined) {
        expect([0, all]).toContain(words.total?.value);
        seen.words.add(words.total!.value);
        counts.words += 1;
      }

      const page = await read.search(`number ${query}`, { total: true, lexical: 0 });
      const { limit } = page.pagination;
      expect(page.results).toHaveLength(Math.min(limit, page.total!.value));
      // An even limit is set with a threshold of 0.9, an odd one with 0.
      const low = page.results.filter(({ relevance_score }) => relevance_score < 0.9);
      if (limit % 2 === 0 && limit !== 50) expect(low).toEqual([]);
      if (limit % 2 === 1) expect(page.total!.value).toBe(all);
      expect(isOfOneState(page.results, query)).toBe(true);
      seen.limits.add(limit);
      counts.pages += 1;

      const { embed, model, flatten = false, defaults, formats, records } = await read.describe();
      expect(records).toBe(all);
      expect([undefined, 0.9, 0]).toContain(defaults?.threshold);
      if (defaults?.limit) expect(defaults.threshold).toBe(defaults.limit % 2 === 0 ? 0.9 : 0);
      if (formats !== undefined) expect(Object.values(formats)).toEqual([formats.writer, formats.writer]);
      expect(flatten).toBe(formats?.writer === 'python');
      seen.states.add(JSON.stringify([embed, model]));
      counts.descriptions += 1;
    }
  };

  // Nothing else draws from it, so that the states are the same however fast the writers and readers are.
  const drawn = new Random(4);
  const changes: ((round: number) => DatabaseChanges<Content>)[] = [
    () => ({ embed: drawn.pick(EMBEDS) as DatabaseChanges<Content>['embed'] }),
    () => ({ model: drawn.pick(['first', 'second']) }),
    (round) => ({ lexical: WORDS[round % WORDS.length] }),
    () => {
      const limit = 1 + drawn.below(40);
      return { defaults: { limit, threshold: limit % 2 === 0 ? 0.9 : 0 } };
    },
    (round) => {
      const format = round % 2 === 0 ? 'python' : '0.00';
      return { formats: { writer: format, other: format }, flatten: format === 'python' };
    },
    () => ({ lexical: false, defaults: null, formats: null, flatten: null }),
    () => ({
      embed: drawn.pick(EMBEDS) as DatabaseChanges<Content>['embed'],
      model: drawn.pick(['first', 'second']),
      defaults: { limit: 7, threshold: 0 },
    }),
  ];
  const changing = async () => {
    for (let change = 0; change < CHANGES; change += 1) {
      const round = Math.floor(change / changes.length);
      await database.configure(changes[change % changes.length]!(round));
      while ((await database.describe()).reembedding !== undefined) await setImmediate();
      // Both readers see the state.
      const before = [...turns];
      while (!ended && turns.some((turn, at) => turn < before[at]! + 2)) await setImmediate();
    }
    ended = true;
  };
  const writers = Array.from({ length: WRITERS }, (_, writer) => writing(writer));
  const readers = [reading(database, 0), reading(other.database<Content>('d'), 1)];
  try {
    await Promise.all([changing(), ...writers, ...readers]);
  } finally {
    ended = true;
    await Promise.allSettled([...writers, ...readers]);
  }
  if (inFull(true, false))
    console.log({ changes: CHANGES, ...counts, states: seen.states.size, limits: seen.limits.size });
  expect(seen.words).toEqual(new Set([0, all]));
  expect(seen.states.size).toBeGreaterThan(2);
  expect(seen.limits.size).toBeGreaterThan(2);
  expect(counts.refused).toBeGreaterThan(0);
  expect(counts.refused).toBeLessThan(counts.written);
});

const NO_PASSAGES = { tokens: null, overlap: null, per_record: null };

/** Texts of several passages, and others of one. */
const TEXTS = [
  'a tower of iron',
  'a cello and a violin',
  'bread and salt',
  'a lighthouse at the sea',
  'old bridges',
];
const SPLITS = [
  { columns: ['a'], passages: { tokens: 16, overlap: 0 } },
  { columns: ['a'], passages: { tokens: 32, overlap: 4, per_record: 300 } },
  { columns: ['a'] },
  { columns: ['b', 'a'], passages: { tokens: 16, overlap: 8, per_record: 100 } },
];

test('no answer mixes passages that change under eight writers and two readers', async () => {
  await using cosift = await open(directory);
  const filler = 'and nothing else is said about this thing in this long sentence';
  const records = TEXTS.map((text, at) => ({
    id: at + 1,
    data: {
      a: `${text} ${filler}, ${TEXTS[(at + 1) % TEXTS.length]} ${filler}`,
      b: TEXTS[(at + 2) % TEXTS.length]!,
      kept: true,
    },
  }));
  const options = {
    threshold: 0,
    passages: 3,
    filter: { column: 'kept', operator: 'equals', value: true },
  } as const;
  const pageOf = async (read: Cosift, id: string) => {
    const { results } = await read.database(id).search('an iron tower', options);
    return JSON.stringify(
      results.map(({ id, relevance_score, best_passages }) => [id, relevance_score, best_passages]),
    );
  };
  const expected: string[] = [];
  for (const [at, embed] of SPLITS.entries()) {
    const fresh = await cosift.createDatabase(`fresh-${at}`, { embed });
    await fresh.upsert(records);
    expected.push(await pageOf(cosift, fresh.id));
  }
  expect(new Set(expected).size).toBe(SPLITS.length);

  const database = await cosift.createDatabase('d', { embed: SPLITS[0]! });
  await database.upsert(records);
  await using other = await open(directory, { readOnly: true });
  let ended = false;
  let written = 0;
  const writing = async (writer: number) => {
    // Records without a text, so that the writers do not wait for the model.
    for (; !ended; written += 1) {
      await database.upsert([{ id: 100 + writer, data: { n: written } }]);
      await setImmediate();
    }
  };
  const seen = new Set<string>();
  const reading = async (read: Cosift) => {
    while (!ended) {
      const page = await pageOf(read, 'd');
      expect(expected).toContain(page);
      seen.add(page);
    }
  };
  const changing = async () => {
    for (let change = 1; change <= inFull(16, 3); change += 1) {
      const { columns, passages } = SPLITS[change % SPLITS.length]!;
      await database.configure({ embed: { columns, passages: { ...NO_PASSAGES, ...passages } } });
      while ((await database.describe()).reembedding !== undefined) await setImmediate();
      for (const read of [cosift, other])
        expect(await pageOf(read, 'd')).toBe(expected[change % SPLITS.length]);
    }
    ended = true;
  };
  const others = [
    ...Array.from({ length: WRITERS }, (_, writer) => writing(writer)),
    reading(cosift),
    reading(other),
  ];
  try {
    await Promise.all([changing(), ...others]);
  } finally {
    ended = true;
    await Promise.allSettled(others);
  }
  expect(seen.size).toBe(SPLITS.length);
  expect(written).toBeGreaterThan(inFull(16, 3));
});
