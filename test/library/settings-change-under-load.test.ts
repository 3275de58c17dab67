import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { type Database, type DatabaseChanges, open } from 'cosift';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { inFull } from '../helpers/full.js';
import { Random } from '../helpers/random.js';
import { models, steps } from './models-of-two-angles.mjs';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'cosift-settings-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const CHANGES = inFull(50, 15);
const WRITERS = 8;
const RECORDS_OF_WRITER = 15;

interface Content extends Record<string, string | number> {
  b: string;
  a: string;
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
  const data = (writer: number): Content => ({
    b: `beta ${random.below(20)}`,
    a: `alpha ${random.below(20)}`,
    writer,
  });
  const write = async (writer: number) => {
    const records = Array.from({ length: RECORDS_OF_WRITER }, (_, at) => ({
      id: 1 + writer * RECORDS_OF_WRITER + at,
      data: data(writer),
    }));
    await database.upsert(records);
    return records.length;
  };
  for (let writer = 0; writer < WRITERS; writer += 1) await write(writer);
  await using other = await open(directory, { readOnly: true, models });

  const counts = { written: 0, scores: 0, words: 0, pages: 0, descriptions: 0 };
  const seen = { states: new Set<string>(), words: new Set<number>(), limits: new Set<number>() };
  let ended = false;
  const writing = async (writer: number) => {
    while (!ended) {
      counts.written += await write(writer);
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

      const { embed, model, defaults, formats, records } = await read.describe();
      expect(records).toBe(all);
      expect([undefined, 0.9, 0]).toContain(defaults?.threshold);
      if (defaults?.limit) expect(defaults.threshold).toBe(defaults.limit % 2 === 0 ? 0.9 : 0);
      if (formats !== undefined) expect(Object.values(formats)).toEqual([formats.writer, formats.writer]);
      seen.states.add(JSON.stringify([embed, model]));
      counts.descriptions += 1;
    }
  };

  const changes: ((round: number) => DatabaseChanges<Content>)[] = [
    () => ({ embed: random.pick(EMBEDS) as DatabaseChanges<Content>['embed'] }),
    () => ({ model: random.pick(['first', 'second']) }),
    (round) => ({ lexical: WORDS[round % WORDS.length] }),
    () => {
      const limit = 1 + random.below(40);
      return { defaults: { limit, threshold: limit % 2 === 0 ? 0.9 : 0 } };
    },
    () => {
      const format = random.pick(['0.00', '.#', 'python']);
      return { formats: { writer: format, other: format } };
    },
    () => ({ lexical: false, defaults: null, formats: null }),
    () => ({
      embed: random.pick(EMBEDS) as DatabaseChanges<Content>['embed'],
      model: random.pick(['first', 'second']),
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
});
