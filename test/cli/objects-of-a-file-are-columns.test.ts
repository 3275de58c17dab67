import { expect, test } from 'vitest';
import { FLATTENED } from '../helpers/flattened.js';
import { openFile, recordsOf } from '../helpers/imported-files.js';

const REASONS: Record<string, string> = {
  duplicate_member: 'the member "[bx]" occurs twice',
  invalid_column: 'two members are the column "a.b(.c)?": --skip-columns|are columns of more than 256 bytes',
  lone_surrogate: 'half of a surrogate pair',
  number_out_of_range: 'the number 1e400 is outside the range',
  too_deep: 'nested deeper than 64 levels',
};

const DEEP = {
  name: 'a list that is nested too deep',
  data: `{"a":${'['.repeat(70)}${']'.repeat(70)}}`,
  flat: null,
  problem: { pointer: '', code: 'too_deep' },
};

test.each([...FLATTENED, DEEP])(
  '--flatten makes what the setting flatten makes: $name',
  async ({ name, data, flat, problem }) => {
    const { input } = await openFile(`{"id":1,"data":${data.replaceAll('\n', ' ')}}\n`, { flatten: true });
    const made: string[] = [];
    const bad: string[] = [];
    for await (const rows of input.records((_, reason) => bad.push(reason))) {
      for (const { json } of rows) made.push(Buffer.from(json).toString());
    }
    if (problem === null) expect([made, bad]).toEqual([[`{"id":1,"data":${flat}}\n`], []]);
    else if (problem.code !== 'invalid_column' || name.startsWith('two') || name.startsWith('a member of'))
      expect([made, bad]).toEqual([[], [expect.stringMatching(REASONS[problem.code] ?? '')]]);
    // The database refuses names that no column has, as in every file.
    else expect([made.length, bad]).toEqual([1, []]);
  },
);

test('members that are one column can be left out', async () => {
  const text = '{"id":1,"a":{"b":1},"c":1}\n{"id":2,"a":{"b":2},"a.b":3,"c":2}\n';
  for (const skipColumns of [['a'], ['a.b']]) {
    const { input } = await openFile(text, { flatten: true, skipColumns });
    const { records } = await recordsOf(input);
    expect(records.map(({ data }) => data)).toEqual([{ c: 1 }, { c: 2 }]);
  }
});

test('a long name is not repeated by all members of its object', async () => {
  const members = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`m${at}`, at]));
  const { input } = await openFile(`${JSON.stringify({ ['x'.repeat(300_000)]: members })}\n`, {
    flatten: true,
  });
  const bad: string[] = [];
  for await (const rows of input.records((_, reason) => bad.push(reason))) expect(rows).toEqual([]);
  expect(bad).toEqual([
    expect.stringMatching(/^the members of "x{40}…" are columns of more than 256 bytes$/),
  ]);
});

const PEOPLE = [
  { sku: 'a-1', name: 'Ada', at: { city: 'Rome', geo: { lat: 1, lon: 2 } }, tags: ['x'], at2: 1 },
  { sku: 'a-2', name: 'Bo', at: { city: 'Oslo' }, tags: [] },
];
const NDJSON = PEOPLE.map((row) => `${JSON.stringify(row)}\n`).join('');

test('all options name the columns of objects, or an object for all of them', async () => {
  const read = async (options: object) => {
    const { input } = await openFile(NDJSON, { flatten: true, ...options });
    input.checkChosen([]);
    return (await recordsOf(input)).records.map(({ data }) => data);
  };
  expect(await read({ columns: ['name', 'at.geo.lat'] })).toEqual([
    { name: 'Ada', 'at.geo.lat': 1 },
    { name: 'Bo' },
  ]);
  expect(await read({ columns: ['at'] })).toEqual([
    { 'at.city': 'Rome', 'at.geo.lat': 1, 'at.geo.lon': 2 },
    { 'at.city': 'Oslo' },
  ]);
  expect(await read({ skipColumns: ['at.geo,sku,tags,at2'] })).toEqual([
    { name: 'Ada', 'at.city': 'Rome' },
    { name: 'Bo', 'at.city': 'Oslo' },
  ]);
  expect(await read({ columns: ['city'], rename: { 'at.city': 'city' } })).toEqual([
    { city: 'Rome' },
    { city: 'Oslo' },
  ]);
  expect(await read({ columns: ['at.geo.lat'], types: { 'at.geo.lat': 'text' } })).toEqual([
    { 'at.geo.lat': '1' },
    {},
  ]);
  expect((await openFile(NDJSON, { flatten: true, idColumn: 'at.city' })).input.identity).toMatchObject({
    column: 'at.city',
    kind: 'key',
  });
  await expect(read({ columns: ['at.town'] })).rejects.toThrow('--columns: there is no column "at.town"');
  // Without --flatten, a dot has no meaning.
  const { input } = await openFile('at.city,at,n\nRome,1,2\n', { columns: ['at'] });
  expect((await recordsOf(input)).records).toMatchObject([{ data: { at: 1 } }]);
});
