import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Cosift, CosiftError, type Database, type FilterGroup, open } from 'cosift';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inFull } from '../helpers/full.js';
import { firstTokenModel } from '../helpers/model-variant.js';
import { Random } from '../helpers/random.js';

const DIMENSIONS = 16;
const TEXTS = inFull(400, 150);

let directory: string;
let cosift: Cosift;

beforeEach(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'cosift-library-'));
  cosift = await open(directory);
});

afterEach(async () => {
  await cosift.close();
  rmSync(directory, { recursive: true, force: true });
});

async function filled(records: number): Promise<{ database: Database; vectors: Float32Array[] }> {
  const random = new Random(20261121);
  const next = () => random.next() - 0.5;
  const vectors = Array.from({ length: records }, () => Float32Array.from({ length: DIMENSIONS }, next));
  const database = await cosift.createDatabase('own', { dimensions: DIMENSIONS });
  const result = await database.upsert(
    vectors.map((vector, at) => ({ id: at + 1, data: { even: at % 2 === 1, rank: at }, vector })),
  );
  expect(result).toMatchObject({ created: records, changed: 0, unchanged: 0 });
  return { database, vectors };
}

const cosine = (a: Float32Array, b: Float32Array) => {
  const dot = (x: Float32Array, y: Float32Array) =>
    x.reduce((sum, value, at) => sum + value * (y[at] ?? 0), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
};

describe('vectors of one’s own', () => {
  it('drains every page of a search, each record once, in the order of a plain sort', async () => {
    const { database, vectors } = await filled(2_500);
    const query = vectors[7] as Float32Array;
    const filter = { rules: [{ column: 'even', operator: 'equals' as const, value: true }] };
    const found: number[] = [];
    for await (const record of database.searchAll({ vector: query }, { threshold: 0.1, filter })) {
      found.push(record.id);
    }
    const expected = vectors
      .map((vector, at) => ({ id: at + 1, score: cosine(query, vector) }))
      .filter(({ id, score }) => id % 2 === 0 && score >= 0.1)
      .sort((a, b) => b.score - a.score)
      .map(({ id }) => id);
    expect(found).toEqual(expected);
    expect(found[0]).toBe(8);
  });

  it('shows both ids of a record, by each of which it is found', async () => {
    const { database, vectors } = await filled(200);
    const { results } = await database.search(
      { vector: vectors[0] as Float32Array },
      { threshold: 0, limit: 5 },
    );
    expect(results).toHaveLength(5);
    for (const { id, uuid, data } of results) {
      expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
      expect(await database.get(uuid)).toMatchObject({ id, uuid, data });
      expect(await database.get(id)).toMatchObject({ id, uuid, data });
    }
    expect(await database.get(999)).toBeUndefined();
  });

  it('says what is wrong, and where', async () => {
    const { database, vectors } = await filled(3);
    const vector = vectors[0] as Float32Array;
    // A program in plain JavaScript has no types to stop it.
    const filter = {
      rules: [{ column: 'rank', operator: 'greater_than', value: '1' }],
    } as unknown as FilterGroup;
    const failure = await database.search({ vector }, { filter }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(CosiftError);
    expect(failure).toMatchObject({
      code: 'invalid_filter',
      problems: [{ pointer: '/filter/rules/0/value' }],
    });
    await expect(database.search({ vector: [1, 2] })).rejects.toMatchObject({
      code: 'invalid_dimensions',
    });
    await expect(
      database.upsert([{ id: 9, data: {}, vector: new Float32Array(DIMENSIONS) }]),
    ).rejects.toMatchObject({ code: 'invalid_vector' });
    await expect(cosift.database('none').describe()).rejects.toMatchObject({ code: 'database_not_found' });
  });

  it('stops a running scan when its signal is aborted', async () => {
    const { database, vectors } = await filled(20_000);
    const vector = vectors[0] as Float32Array;
    const before = new AbortController();
    before.abort(new Error('changed my mind'));
    await expect(database.search({ vector }, { signal: before.signal })).rejects.toThrow('changed my mind');
    const during = new AbortController();
    const searches = Array.from({ length: 64 }, () =>
      database.search({ vector }, { threshold: 0, total: true, signal: during.signal }),
    );
    during.abort(new Error('enough'));
    for (const outcome of await Promise.allSettled(searches)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { message: 'enough' } });
    }
    expect((await database.search({ vector })).results[0]?.id).toBe(1);
  });

  it('rejects a search of few records whose signal is aborted before its page is there', async () => {
    const { database, vectors } = await filled(20);
    const leaving = new AbortController();
    const query = { vector: vectors[0] as Float32Array };
    const found = database.search(query, { signal: leaving.signal });
    leaving.abort(new Error('changed my mind'));
    await expect(found).rejects.toThrow('changed my mind');
    expect((await database.search(query)).results[0]?.id).toBe(1);
  });

  it('keeps everything over close and open', async () => {
    const { database, vectors } = await filled(300);
    const query = { vector: vectors[3] as Float32Array };
    const before = await database.search(query, { threshold: 0 });
    await cosift.close();
    cosift = await open(directory);
    const again = cosift.database('own');
    expect(await again.search(query, { threshold: 0 })).toEqual(before);
    expect((await again.describe()).records).toBe(300);
  });
});

describe('texts and the built-in model', () => {
  it('finds by meaning, embeds a changed record again and an unchanged one not', async () => {
    const facts = await cosift.createDatabase('facts', { embed: { columns: ['text'] } });
    const records = [
      { id: 1, data: { text: 'The Eiffel Tower stands in Paris', height_m: 330 } },
      { id: 2, data: { text: 'Penicillin was discovered by Alexander Fleming' } },
    ];
    await facts.upsert(records);
    const find = async (text: string) => (await facts.search(text)).results[0]?.id;
    expect(await find('a tall building in France')).toBe(1);
    expect(await find('antibiotics in medicine')).toBe(2);
    expect(await facts.upsert(records)).toMatchObject({ created: 0, changed: 0, unchanged: 2 });
    await facts.upsert([{ id: 1, data: { text: 'A recipe for tomato soup' } }]);
    expect(await find('cooking vegetables')).toBe(1);
    expect((await facts.changes()).changes.map(({ kind, id }) => [kind, id])).toEqual([
      ['created', 1],
      ['created', 2],
      ['changed', 1],
    ]);
    expect(await facts.delete({ ids: [1, 5] })).toBe(1);
    expect(await facts.get(1)).toBeUndefined();
  });
});

describe('models of the program', () => {
  it('embeds a database with one of them, tells how far it is, and can be stopped', async () => {
    const first = firstTokenModel(path.join(directory, 'first'));
    await cosift.close();
    cosift = await open(directory, { models: { first } });
    const facts = await cosift.createDatabase('facts');
    const subjects = ['tower', 'river', 'comet', 'violin', 'glacier'];
    await facts.upsert(
      Array.from({ length: TEXTS }, (_, at) => ({
        id: at + 1,
        data: { text: `the ${subjects[at % 5]} ${at}` },
      })),
    );
    const find = async () => (await facts.search('music', { threshold: 0 })).results;
    const before = await find();

    const stop = new AbortController();
    const stopped = facts.reembed('first', {
      signal: stop.signal,
      onProgress: ({ state }) => state === 'running' && stop.abort(new Error('enough')),
    });
    await expect(stopped).rejects.toThrow('enough');
    expect(await find()).toEqual(before);
    expect(await facts.describe()).not.toHaveProperty('reembedding');

    const states: string[] = [];
    const ended = await facts.reembed('first', { onProgress: ({ state }) => states.push(state) });
    expect(ended).toMatchObject({ model: 'first', from: 'all-MiniLM-L6-v2', done: TEXTS, records: TEXTS });
    expect(states[0]).toBe('running');
    expect(states.at(-1)).toBe('done');
    expect(await find()).not.toEqual(before);
    expect(await facts.describe()).toMatchObject({ model: 'first' });
    await expect(facts.reembed('second')).rejects.toMatchObject({
      code: 'invalid_request',
      detail: expect.stringContaining('"first"'),
    });
    await expect(open(path.join(directory, 'other'), { models: { 'a/b': first } })).rejects.toThrow(
      /a model has a name of/,
    );
  });
});
