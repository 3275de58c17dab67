import { open } from 'cosift';
import { expect, test } from 'vitest';
import { bytesOf, testDirectory } from '../helpers/archives.js';

const FILLER = [
  'The committee met on a Tuesday and discussed the budget.',
  'Nobody objected to the minutes of the last meeting.',
  'A new carpet was ordered for the hallway 😀.',
  'The printer on the second floor was repaired again.',
];
const filler = (count: number) => Array.from({ length: count }, (_, at) => FILLER[at % 4]).join(' ');
const ANSWER = 'The violin was made in Cremona by Antonio Stradivari.';
const QUESTION = 'Who made the violin in Cremona?';
const long = `${filler(59)} ${ANSWER}`;

const others = ['A tower with a lamp guides ships.', 'Bread is made of flour and water.'];

test('sixty sentences with the answer in the last one, and the place of the passage', async () => {
  const directory = await testDirectory();
  for (let opened = 0; opened < 2; opened += 1) {
    await using cosift = await open(directory);
    const database = await cosift.createDatabase('texts');
    if (opened === 0) {
      const records = [
        { id: 1, data: { title: 'Minutes', text: long } },
        ...others.map((text) => ({ data: { text } })),
      ];
      expect(await database.upsert(records)).toMatchObject({ created: 3 });
    }
    const [first, ...rest] = (await database.search(QUESTION, { passages: true, threshold: 0 })).results;
    expect(first).toMatchObject({ id: 1, passage: { column: 'text', end: long.length } });
    expect(first!.relevance_score).toBeGreaterThan(0.2);
    const { column, start, end } = first!.passage!;
    const found = String(first!.data[column]).slice(start, end);
    expect(found.endsWith(ANSWER)).toBe(true);
    expect(FILLER.some((sentence) => found.startsWith(sentence.slice(0, 5)))).toBe(true);
    for (const result of rest) expect(result).not.toHaveProperty('passage');
    const plain = (await database.search(QUESTION, { threshold: 0 })).results;
    expect(plain.map(({ id, relevance_score }) => [id, relevance_score])).toEqual(
      [first!, ...rest].map(({ id, relevance_score }) => [id, relevance_score]),
    );
    for (const result of plain) expect(result).not.toHaveProperty('passage');
    const { passages, without_text } = await database.describe();
    expect(passages).toBeGreaterThan(4);
    expect(without_text).toBe(0);
    // The content is the same, so nothing is embedded.
    const again = [{ id: 1, data: { text: long, title: 'Minutes' } }];
    expect(await database.upsert(again)).toMatchObject({ unchanged: 1 });
  }
});

test('after a patch, an export, an import and another embedding', async () => {
  await using cosift = await open(await testDirectory());
  const database = await cosift.createDatabase('texts', { embed: { columns: ['title', 'text'] } });
  await database.upsert([
    { id: 1, data: { title: 'Minutes', text: long } },
    { id: 2, data: { text: others[0]! } },
  ]);
  const search = async (id: string) =>
    (await cosift.database(id).search(QUESTION, { passages: true, threshold: 0 })).results.map(
      ({ id, relevance_score, passage }) => ({ id, relevance_score, passage }),
    );
  const before = await search('texts');
  await database.patch(1, { n: 5 });
  expect(await search('texts')).toEqual(before);

  const exported = await bytesOf(database.exportLines({ vectors: true }));
  const copy = await cosift.createDatabase('copy', { embed: { columns: ['title', 'text'] } });
  for await (const event of copy.upsertLines([exported])) expect(event.type).not.toBe('problem');
  expect(String(await bytesOf(copy.exportLines({ vectors: true })))).toBe(String(exported));
  expect(await search('copy')).toEqual(before);

  await database.patch(1, { text: null, title: null });
  expect((await database.describe()).without_text).toBe(1);
  expect((await search('texts')).map(({ id }) => id)).toEqual([2]);
  await database.patch(1, { text: long, title: 'Minutes' });
  expect(await search('texts')).toEqual(before);
});

test('a record with too many passages is refused with its place, and so is a query', async () => {
  await using cosift = await open(await testDirectory());
  const database = await cosift.createDatabase('texts');
  const records = [{ data: { text: others[0]! } }, { data: { text: long.repeat(40) } }];
  const detail = expect.stringMatching(
    /makes at least 65 passages, at most 64 are allowed \(embed\.passages\.per_record\)/,
  );
  await expect(database.upsert(records)).rejects.toMatchObject({
    code: 'invalid_record',
    problems: [{ pointer: '/records/1/data', code: 'too_many_passages', detail }],
  });
  const lines = records.map((record) => JSON.stringify(record)).join('\n');
  const events = [];
  for await (const event of database.upsertLines([Buffer.from(lines)])) events.push(event);
  expect(events[0]).toMatchObject({
    type: 'problem',
    line: 2,
    pointer: '/data',
    code: 'too_many_passages',
    detail,
  });
  expect(events.at(-1)).toMatchObject({ type: 'summary', created: 1, failed: 1 });
  expect((await database.search('word '.repeat(300), { threshold: 0 })).results).toHaveLength(1);
  await expect(database.search('!'.repeat(8_000))).rejects.toMatchObject({
    code: 'invalid_request',
    problems: [{ pointer: '/query', code: 'value_too_long' }],
    detail: expect.stringMatching(/more than 64 passages: .* its window of 256 tokens$/),
  });
});
