import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Database, open } from 'cosift';
import { expect, test } from 'vitest';

const TEXTS = ['a cat', 'a dog in the garden', 'quarterly tax report'];

/** Contents without a text that is embedded; the engine sees that most have none, the tokenizer the others. */
const WITHOUT = [
  {},
  { text: null },
  { text: '' },
  { text: '  \n\t' },
  { text: '\u00a0\u3000' },
  { text: '\u200b\u200d' },
  { other: 'a car' },
  // Of these, the model knows nothing.
  { text: '🎉' },
  { text: '❤️' },
  { text: 'สวัสดีครับ' },
  { text: '𝓗𝓮𝓵𝓵𝓸' },
  { text: '\u0302' },
  { text: 'สวัสดี ครับ '.repeat(400) },
];

async function check(database: Database, withText: number[], all: number): Promise<void> {
  for (const text of ['car', '', ' ', 'a cat', 'text']) {
    if (text.trim() === '') continue;
    const page = await database.search(text, {
      threshold: 0,
      total: true,
      facets: [{ column: 'n', type: 'values', limit: 100 }],
      explain: true,
    });
    expect(page.results.map(({ id }) => id).sort((a, b) => a - b)).toEqual(withText);
    expect(page.total).toMatchObject({ value: withText.length });
    expect(page.facets).toMatchObject([{ values: withText.map(() => ({ count: 1 })) }]);
    const found = [];
    for await (const { id } of database.searchAll(text, { threshold: 0, limit: 1 })) {
      found.push(id);
    }
    expect(found.sort((a, b) => a - b)).toEqual(withText);
  }
  const listed = await database.query({ total: true, facets: [{ column: 'n', type: 'values', limit: 100 }] });
  expect(listed.total).toMatchObject({ value: all });
  expect(listed.facets).toMatchObject([{ values: Array.from({ length: all }, () => ({ count: 1 })) }]);
  expect((await database.describe()).records).toBe(all);
}

test('by the real model, after a restart and with another text too', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'cosift-without-text-'));
  try {
    const records = [...TEXTS.map((text) => ({ text })), ...WITHOUT].map((data, at) => ({
      id: at + 1,
      data: { n: at, ...data },
    }));
    const all = records.length;
    let cosift = await open(directory);
    let database = await cosift.createDatabase('db', { embed: { columns: ['text'] } });
    const result = await database.upsert(records);
    expect(result).toMatchObject({ created: all });
    await check(database, [1, 2, 3], all);
    expect((await database.changes()).changes).toHaveLength(all);
    expect(await database.upsert(records)).toMatchObject({ unchanged: all });

    // Default columns: every string column, none of which these records have.
    const plain = await cosift.createDatabase('plain');
    await plain.upsert([
      { id: 1, data: { n: 0, text: 'a cat' } },
      { id: 2, data: { n: 1 } },
      { id: 3, data: { n: 2, text: ' ' } },
    ]);
    await check(plain, [1], 3);
    // The name of the column, which is embedded with the value, says nothing of the record.
    await plain.upsert([
      { id: 4, data: { n: 3, text: '🎉' } },
      { id: 5, data: { n: 4, text: 'สวัสดี ครับ '.repeat(400) } },
      { id: 6, data: { n: 5, text: '🎉 a party' } },
    ]);
    await check(plain, [1, 6], 6);
    for (const text of ['🎉', 'สวัสดีครับ', '\u0301', 'x'.repeat(101)]) {
      await expect(plain.search(text)).rejects.toMatchObject({
        code: 'invalid_request',
        problems: [{ pointer: '/query', code: 'invalid_value' }],
      });
    }
    expect((await plain.search('🎉 party', { threshold: 0 })).results).toHaveLength(2);

    await cosift.close();
    cosift = await open(directory);
    database = cosift.database('db');
    await check(database, [1, 2, 3], all);
    // A text that comes makes the record found, one that goes takes it away.
    await database.upsert([
      { id: 4, data: { n: 3, text: 'a car' } },
      { id: 1, data: { n: 0, text: '' } },
    ]);
    await check(database, [2, 3, 4], all);
    await cosift.close();
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
