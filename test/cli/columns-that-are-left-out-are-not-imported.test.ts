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
  list.input.checkSkipped([]);
  expect(list.input.inspection?.names).toEqual(['a', 'last, first']);
  const { input } = await openFile(content, { skipColumns: ['b', 'twice', 'last, first'] });
  input.checkSkipped([]);
  expect(input.inspection?.names).toEqual(['a']);
  const { records, bad } = await recordsOf(input);
  expect(records.map(({ data }) => data)).toEqual([{ a: 'x' }]);
  expect(bad).toEqual([]);
});

test('a column that is left out must be in the file, and no other option may name it', async () => {
  for (const content of ['a,bc\n1,2\n', '{"a":1,"bc":2}\n', parquet()]) {
    const skipColumns = ['a', 'bd', 'twice'];
    const { input } = await openFile(content, { skipColumns });
    expect(() => input.checkSkipped([])).toThrow('--skip-columns: there is no column "bd"');
    expect(() => input.checkSkipped(['a'])).toThrow('--skip-columns: another option names the column "a"');
  }
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
