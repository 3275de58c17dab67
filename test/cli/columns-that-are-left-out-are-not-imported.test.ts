import { expect, test } from 'vitest';
import { openFile, recordsOf } from '../helpers/imported-files.js';
import { byteArrays, type Chunk, type Element, page, parquetFile } from '../helpers/parquet-file.js';

function parquet(): Buffer {
  const column = (name: string): Element => ({ name, type: 'BYTE_ARRAY', repetition: 'required' });
  const chunk = (name: string, bytes: string | Uint8Array): Chunk => {
    return { type: 'BYTE_ARRAY', path: [name], pages: [page(byteArrays([bytes]), { count: 1 })], values: 1 };
  };
  // One column cannot be stored, and two have the same name.
  const columns: [string, string | Uint8Array][] = [
    ['a', 'x'],
    ['b', Uint8Array.of(0xff)],
    ['last, first', 'y'],
    ['twice', 'z'],
    ['twice', 'z'],
  ];
  const schema = [{ name: 'root', children: columns.length }, ...columns.map(([name]) => column(name))];
  return parquetFile(
    schema,
    columns.map(([name, bytes]) => chunk(name, bytes)),
    1,
  );
}

test.each([
  ['CSV', 'a,b,"last, first",twice\nx,!,y,z\n'],
  ['NDJSON', '{"a":"x","b":[1],"last, first":"y","twice":"z"}\n'],
  ['JSON', '[\n{"a":"x","b":[1],"last, first":"y","twice":"z"}\n]'],
  ['records of NDJSON', '{"data":{"a":"x","b":[1],"last, first":"y","twice":"z"}}\n'],
  ['Parquet', parquet()],
])('%s: columns are left out by a list of names, or by a flag for each name', async (_, content) => {
  const list = await openFile(content, { skipColumns: ['b, twice'] });
  list.input.checkChosen([]);
  expect(list.input.inspection?.names).toEqual(['a', 'last, first']);
  const { input } = await openFile(content, { skipColumns: ['b', 'twice', 'last, first'] });
  input.checkChosen([]);
  expect(input.inspection?.names).toEqual(['a']);
  const { records, bad } = await recordsOf(input);
  expect(records.map(({ data }) => data)).toEqual([{ a: 'x' }]);
  expect(bad).toEqual([]);
});

test('a column that is left out must be in the file, and no other option may name it', async () => {
  for (const content of ['a,bc\n1,2\n', '{"a":1,"bc":2}\n', parquet()]) {
    const skipColumns = ['a', 'bd', 'twice'];
    const { input } = await openFile(content, { skipColumns });
    expect(() => input.checkChosen([])).toThrow('--skip-columns: there is no column "bd"');
    expect(() => input.checkChosen(['a'])).toThrow('--skip-columns: another option names the column "a"');
  }
});

test.each([
  ['CSV', 'id,old name,b,"x, y"\n1,x,!,y\n'],
  ['NDJSON', '{"id":1,"old name":"x","b":[1],"x, y":"y"}\n'],
  ['records of NDJSON', '{"id":1,"data":{"old name":"x","b":[1],"x, y":"y"}}\n'],
])('%s: columns are chosen and renamed', async (_, content) => {
  const rename = { 'old name': 'name' };
  const isRecord = content.includes('data');
  const columns = [...(isRecord ? [] : ['id']), 'name', 'x, y'];
  const { input } = await openFile(content, { rename, columns });
  input.checkChosen(['name']);
  expect(input.inspection?.names).toEqual(columns);
  expect((await recordsOf(input)).records).toEqual([{ id: 1, data: { name: 'x', 'x, y': 'y' } }]);
  expect(() => input.checkChosen(['old name'])).toThrow(
    '--columns: another option names the column "old name", which is not among them',
  );
});

test('columns change their names with each other, and none gets the name of another', async () => {
  const content = 'a,b\n1,2\n';
  const { input } = await openFile(content, { rename: { a: 'b', b: 'a' } });
  expect((await recordsOf(input)).records).toMatchObject([{ data: { b: 1, a: 2 } }]);
  await expect(openFile(content, { rename: { a: 'b' } })).rejects.toThrow(
    '--rename: two columns have the name "b" then',
  );
});

test('columns that are not in the file are named with the option', async () => {
  const check = async (options: Parameters<typeof openFile>[1]) => {
    const { input } = await openFile('abc,b\n1,2\n', options);
    return input.checkChosen([]);
  };
  await expect(check({ rename: { abd: 'x' } })).rejects.toThrow(
    '--rename: there is no column "abd"; did you mean "abc"?',
  );
  await expect(check({ columns: ['b', 'abd'] })).rejects.toThrow('--columns: there is no column "abd"');
  await expect(check({ vectorColumn: 'v' })).rejects.toThrow('--vector-column: there is no column "v"');
});

test.each([
  ['CSV of pgvector', 'id,a,embedding\n1,x,"[0.5, -1,1e-3]"\n2,y,\n3,z,"[1,""x""]"\n4,w,{}\n'],
  [
    'NDJSON',
    '{"id":1,"a":"x","embedding":[0.5,\t-1,1e-3]}\n{"id":2,"a":"y","embedding":null}\n' +
      '{"id":3,"a":"z","embedding":[1,"x"]}\n{"id":4,"a":"w","embedding":{}}\n',
  ],
])('%s: a column has the vectors', async (_, content) => {
  const { input } = await openFile(content, { vectorColumn: 'embedding' });
  input.checkChosen([]);
  expect(input.inspection?.names).toEqual(['id', 'a']);
  const { records, bad } = await recordsOf(input);
  expect(records).toEqual([
    { id: 1, data: { a: 'x' }, vector: [0.5, -1, 0.001] },
    { id: 2, data: { a: 'y' } },
  ]);
  const reason = 'column "embedding": the value is no list of numbers';
  const first = content.startsWith('id') ? 4 : 3;
  expect(bad).toEqual([`${first}: ${reason}`, `${first + 1}: ${reason}`]);
});

test('the column of the vectors is the list "vector", or it stands beside none', async () => {
  const content = '{"id":1,"vector":[1],"v":[2]}\n';
  const named = await openFile(content, { vectorColumn: 'vector', skipColumns: ['v'] });
  named.input.checkChosen([]);
  expect((await recordsOf(named.input)).records).toEqual([{ id: 1, data: {}, vector: [1] }]);
  const both = await openFile(content, { vectorColumn: 'v' });
  expect((await recordsOf(both.input)).bad).toEqual([
    '1: the row has a list "vector", too: --skip-columns vector leaves it out',
  ]);
});

test('a column of Parquet gets another name before it is read', async () => {
  const { input } = await openFile(parquet(), { rename: { a: 'first' }, columns: ['first'] });
  input.checkChosen([]);
  expect((await recordsOf(input)).records).toMatchObject([{ data: { first: 'x' } }]);
});

test('a vector is left out, and the records are embedded', async () => {
  const { input } = await openFile('{"id":1,"a":"x","vector":[1,2]}\n', { skipColumns: ['vector'] });
  expect((await recordsOf(input)).records).toEqual([{ id: 1, data: { a: 'x' } }]);
});

test('a bad row of Parquet has the columns that are left out, so that the same options read it', async () => {
  const { input } = await openFile(parquet(), { skipColumns: ['a', 'twice'] });
  const raws: string[] = [];
  for await (const rows of input.records(({ raw }) => raws.push(String(raw())))) expect(rows).toEqual([]);
  expect(raws).toEqual(['{"b":BYTE_ARRAY(ff),"last, first":"y","a":null,"twice":null,"twice":null}']);
});
