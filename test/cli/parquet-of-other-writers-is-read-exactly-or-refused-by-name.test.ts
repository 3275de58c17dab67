import { expect, test } from 'vitest';
import { ParquetError } from '../../src/readers/parquet/errors.js';
import { ParquetRows } from '../../src/readers/parquet/rows.js';
import { openFile, recordsOf } from '../helpers/imported-files.js';
import {
  bool,
  byteArrays,
  type Chunk,
  dictionaryPage,
  type Element,
  i32,
  int32s,
  int64s,
  page,
  parquetFile,
  run,
  runs,
  struct,
} from '../helpers/parquet-file.js';

const ID: Element = { name: 'id', type: 'INT32', repetition: 'required' };

function idsOf(count: number): Chunk {
  const ids = Array.from({ length: count }, (_, at) => at + 1);
  return { type: 'INT32', path: ['id'], pages: [page(int32s(ids), { count })], values: count };
}

/** Writes a file with a column `id` and one more column, which has these elements and chunks. */
function fileOf(elements: readonly Element[], chunks: readonly Chunk[], rows: number): Buffer {
  return parquetFile([{ name: 'root', children: 2 }, ID, ...elements], [idsOf(rows), ...chunks], rows);
}

async function dataOf(file: Buffer, flatten = false) {
  const { records, bad } = await recordsOf((await openFile(file, { flatten })).input);
  return { data: records.map(({ data }) => data), bad };
}

/** The text of a bad row as `--bad-rows` writes it. */
async function rawOf(file: Buffer): Promise<string[]> {
  const raws: string[] = [];
  for await (const rows of (await openFile(file)).input.format.rows()) {
    for (const row of rows) if ('reason' in row) raws.push(String(row.raw()));
  }
  return raws;
}

test('fields that state 0 children are values: a time, a decimal number and a UUID (DuckDB up to 0.6, Parquet.jl)', async () => {
  const uuid = Buffer.from('550e8400e29b41d4a716446655440000', 'hex');
  const file = parquetFile(
    [
      { name: 'root', children: 3 },
      { name: 't', type: 'INT64', repetition: 'required', children: 0, converted: 'TIMESTAMP_MICROS' },
      { name: 'price', type: 'INT32', repetition: 'required', children: 0, converted: 'DECIMAL', scale: 2 },
      {
        name: 'ref',
        type: 'FIXED',
        width: 16,
        repetition: 'required',
        children: 0,
        logical: [14, struct({})],
      },
    ],
    [
      {
        type: 'INT64',
        path: ['t'],
        pages: [page(int64s([1_714_566_896_123_456n]), { count: 1 })],
        values: 1,
      },
      { type: 'INT32', path: ['price'], pages: [page(int32s([12345]), { count: 1 })], values: 1 },
      { type: 'FIXED', path: ['ref'], pages: [page(uuid, { count: 1 })], values: 1 },
    ],
    1,
  );
  expect((await dataOf(file)).data).toEqual([
    { t: '2024-05-01T12:34:56.123456Z', price: 123.45, ref: '550e8400-e29b-41d4-a716-446655440000' },
  ]);
});

test('the root of the schema may be repeated (arrow-go)', async () => {
  const schema: Element[] = [
    { name: 'root', children: 1, repetition: 'repeated' },
    { ...ID, name: 'n' },
  ];
  const chunk: Chunk = { type: 'INT32', path: ['n'], pages: [page(int32s([7, 8]), { count: 2 })], values: 2 };
  expect((await dataOf(parquetFile(schema, [chunk], 2))).data).toEqual([{ n: 7 }, { n: 8 }]);
});

test('times of INT96 keep nanoseconds (Spark, Hive, Impala)', async () => {
  const times = Buffer.concat(
    [
      [2_460_311, 123_456_789n],
      // A time of day that is negative is on the day before.
      [2_440_588, -1n],
    ].map(([day, nanos]) => Buffer.concat([int64s([nanos as bigint]), int32s([day as number])])),
  );
  const chunk: Chunk = { type: 'INT96', path: ['t'], pages: [page(times, { count: 2 })], values: 2 };
  const { data } = await dataOf(fileOf([{ name: 't', type: 'INT96', repetition: 'required' }], [chunk], 2));
  expect(data).toEqual([{ t: '2024-01-01T00:00:00.123456789' }, { t: '1969-12-31T23:59:59.999999999' }]);
});

test('lists of two levels, and a list of such lists, are read (parquet-avro, Hive)', async () => {
  const lists: Element[] = [
    { name: 'a', repetition: 'optional', children: 1, converted: 'LIST' },
    { name: 'array', repetition: 'repeated', children: 1, converted: 'LIST' },
    { name: 'array', type: 'INT32', repetition: 'repeated' },
  ];
  // [[1, 2], [3]], null, [], [[]]
  const repetitions = [0, 2, 1, 0, 0, 0];
  const definitions = [3, 3, 3, 0, 1, 2];
  const pages = [page(int32s([1, 2, 3]), { count: 6, repetitions, definitions })];
  const chunk: Chunk = { type: 'INT32', path: ['a', 'array', 'array'], pages, values: 6 };
  const { data } = await dataOf(fileOf(lists, [chunk], 4), true);
  expect(data).toEqual([{ a: '[[1,2],[3]]' }, { a: null }, { a: [] }, { a: '[[]]' }]);
});

test('a list of groups with one field has these fields, if the names say so', async () => {
  const list = (name: string): Element[] => [
    { name: 'a', repetition: 'optional', children: 1, converted: 'LIST' },
    { name, repetition: 'repeated', children: 1 },
    { name: 'x', type: 'INT32', repetition: 'required' },
  ];
  const pages = [page(int32s([1, 2]), { count: 2, repetitions: [0, 1], definitions: [2, 2] })];
  const read = async (name: string) => {
    const chunk: Chunk = { type: 'INT32', path: ['a', name, 'x'], pages, values: 2 };
    return (await dataOf(fileOf(list(name), [chunk], 1), true)).data;
  };
  expect(await read('array')).toEqual([{ a: '[{"x":1},{"x":2}]' }]);
  expect(await read('a_tuple')).toEqual([{ a: '[{"x":1},{"x":2}]' }]);
  expect(await read('list')).toEqual([{ a: [1, 2] }]);
});

test('a column after a group without fields has its own values', async () => {
  const schema: Element[] = [
    { name: 'root', children: 3 },
    ID,
    { name: 'empty', repetition: 'optional', children: 0 },
    { name: 'n', type: 'INT32', repetition: 'required' },
  ];
  const chunk: Chunk = { type: 'INT32', path: ['n'], pages: [page(int32s([5, 6]), { count: 2 })], values: 2 };
  expect((await dataOf(parquetFile(schema, [idsOf(2), chunk], 2))).data).toEqual([{ n: 5 }, { n: 6 }]);
});

test('a block of LZ4 that looks like a length of Hadoop is read as one block', async () => {
  // One block of 12 literals. Its first 8 bytes could also be the lengths of a block of 1 byte.
  const compress = (bytes: Buffer) => Buffer.concat([Buffer.from([bytes.length << 4]), bytes]);
  const values = [0, 0x05010000, 7];
  const chunk: Chunk = {
    type: 'INT32',
    path: ['n'],
    pages: [page(int32s(values), { count: 3, compress })],
    values: 3,
    codec: 'LZ4',
  };
  const n: Element = { name: 'n', type: 'INT32', repetition: 'required' };
  expect((await dataOf(fileOf([n], [chunk], 3))).data).toEqual(values.map((value) => ({ n: value })));
});

test.each([
  // A block of LZ4 with 8 literals: the lengths of the levels and the levels.
  ['LZ4', 1, (bytes: Buffer) => Buffer.concat([Buffer.from([bytes.length << 4]), bytes])],
  ['SNAPPY', 2, () => Buffer.alloc(0)],
] as const)('pages without values are read, compressed by %s', async (codec, version, compress) => {
  const note: Element = { name: 'note', type: 'BYTE_ARRAY', repetition: 'optional', converted: 'UTF8' };
  const pages = [page(Buffer.alloc(0), { count: 3, definitions: [0, 0, 0], version, compress })];
  const chunk: Chunk = { type: 'BYTE_ARRAY', path: ['note'], pages, values: 3, codec };
  expect(await dataOf(fileOf([note], [chunk], 3))).toEqual({
    data: [{ note: null }, { note: null }, { note: null }],
    bad: [],
  });
});

test('a number of 16 bits is a number, and an interval is a duration of ISO 8601', async () => {
  const half = Buffer.from(Uint16Array.of(0x3c00, 0xc500, 0x0001, 0x7e00).buffer);
  const float16: Element = {
    name: 'x',
    type: 'FIXED',
    width: 2,
    repetition: 'required',
    logical: [15, struct({})],
  };
  const halves: Chunk = { type: 'FIXED', path: ['x'], pages: [page(half, { count: 4 })], values: 4 };
  expect(await dataOf(fileOf([float16], [halves], 4))).toEqual({
    data: [{ x: 1 }, { x: -5 }, { x: 2 ** -24 }],
    bad: [
      '4: column "x": NaN is no number that a record can hold: null stands for no value; --skip-columns x leaves the column out',
    ],
  });
  const interval: Element = {
    name: 'i',
    type: 'FIXED',
    width: 12,
    repetition: 'required',
    converted: 'INTERVAL',
  };
  const intervals = page(int32s([14, 3, 4500, 0, 0, 0]), { count: 2 });
  const chunk: Chunk = { type: 'FIXED', path: ['i'], pages: [intervals], values: 2 };
  expect((await dataOf(fileOf([interval], [chunk], 2))).data).toEqual([{ i: 'P14M3DT4.5S' }, { i: 'PT0S' }]);
});

test('bytes without an annotation are text if all bytes of the column are, otherwise all are reported', async () => {
  const read = async (values: (string | Uint8Array)[]) => {
    const bytes: Element = { name: 'b', type: 'BYTE_ARRAY', repetition: 'required' };
    const pages = values.map((value) => page(byteArrays([value]), { count: 1 }));
    const chunk: Chunk = { type: 'BYTE_ARRAY', path: ['b'], pages, values: values.length };
    const file = fileOf([bytes], [chunk], values.length);
    return { ...(await dataOf(file)), raw: await rawOf(file) };
  };
  expect((await read(['Zürich', 'a\tb\n'])).data).toEqual([{ b: 'Zürich' }, { b: 'a\tb\n' }]);
  const reason =
    'column "b": the type BYTE_ARRAY (binary data, not text) of Parquet cannot be stored; --skip-columns b leaves ' +
    'the column out';
  for (const other of [Uint8Array.of(0xff, 0xfe), Uint8Array.of(1, 2)]) {
    const { data, bad, raw } = await read(['ok', other]);
    expect(data).toEqual([]);
    expect(bad).toEqual([`1: ${reason}`, `2: ${reason}`]);
    expect(raw[0]).toBe('{"id":1,"b":BYTE_ARRAY(6f6b)}');
  }
});

test('a bad row is kept in a form that is refused again: a map, a number that is none, a text that is not UTF-8', async () => {
  const map: Element[] = [
    { name: 'm', repetition: 'optional', children: 1, converted: 'MAP' },
    { name: 'key_value', repetition: 'repeated', children: 2 },
    { name: 'key', type: 'BYTE_ARRAY', repetition: 'required', converted: 'UTF8' },
    { name: 'value', type: 'INT32', repetition: 'optional' },
  ];
  const levels = { count: 3, repetitions: [0, 1, 0] };
  const keys = page(byteArrays(['a', 'b']), { ...levels, definitions: [2, 2, 0] });
  const values = page(int32s([1]), { ...levels, definitions: [3, 2, 0] });
  const file = fileOf(
    map,
    [
      { type: 'BYTE_ARRAY', path: ['m', 'key_value', 'key'], pages: [keys], values: 3 },
      { type: 'INT32', path: ['m', 'key_value', 'value'], pages: [values], values: 3 },
    ],
    2,
  );
  expect(await dataOf(file)).toEqual({
    data: [{ m: null }],
    bad: ['1: column "m": the type MAP of Parquet cannot be stored; --skip-columns m leaves the column out'],
  });
  const [raw] = (await rawOf(file)) as [string];
  expect(raw).toBe('{"id":1,"m":MAP({"key_value":[{"key":"a","value":1},{"key":"b","value":null}]})}');
  const again = await recordsOf((await openFile(`${raw}\n`, { format: 'ndjson', flatten: true })).input);
  expect(again.records).toEqual([]);
  expect(again.bad).toHaveLength(1);

  const text: Element = { name: 's', type: 'BYTE_ARRAY', repetition: 'required', converted: 'UTF8' };
  const pages = [page(byteArrays([Uint8Array.of(0x61, 0xff)]), { count: 1 })];
  const broken = fileOf([text], [{ type: 'BYTE_ARRAY', path: ['s'], pages, values: 1 }], 1);
  expect((await dataOf(broken)).bad).toEqual(['1: column "s": the text is not valid UTF-8']);
  expect(await rawOf(broken)).toEqual(['{"id":1,"s":bytes(61ff)}']);
});

test('two columns of one name are refused before anything is read', async () => {
  const schema: Element[] = [{ name: 'root', children: 2 }, ID, ID];
  await expect(openFile(parquetFile(schema, [idsOf(1), idsOf(1)], 1))).rejects.toThrow(
    'two columns of the Parquet file are named "id": rename one in the file; --skip-columns id leaves both out',
  );
});

/** Reads all cells of a file in memory. */
async function readAll(file: Buffer): Promise<number> {
  const bytes = Uint8Array.from(file).buffer;
  const rows = await ParquetRows.open(
    { byteLength: bytes.byteLength, slice: async (start, end) => bytes.slice(start, end) },
    () => false,
  );
  let count = 0;
  for await (const batch of rows.read(new AbortController().signal)) count += batch.length;
  return count;
}

test('whatever byte of a file is damaged, it is read or refused with a message of the import', async () => {
  const schema: Element[] = [
    { name: 'root', children: 3 },
    ID,
    { name: 's', type: 'BYTE_ARRAY', repetition: 'optional', converted: 'UTF8' },
    { name: 'l', repetition: 'optional', children: 1, converted: 'LIST' },
    { name: 'list', repetition: 'repeated', children: 1 },
    {
      name: 'element',
      type: 'INT64',
      repetition: 'optional',
      logical: [8, struct({ 1: bool(true), 2: struct({ 1: struct({}) }) })],
    },
  ];
  const dictionary = dictionaryPage(byteArrays(['a', 'bc']), 2);
  const indexes = Buffer.concat([Buffer.from([1]), runs([1, 0])]);
  const texts = page(indexes, { count: 3, definitions: [1, 0, 1], encoding: 'RLE_DICTIONARY', version: 2 });
  const times = page(int64s([1, 2, 3]), { count: 4, repetitions: [0, 1, 0, 0], definitions: [3, 3, 0, 3] });
  const file = parquetFile(
    schema,
    [
      idsOf(3),
      { type: 'BYTE_ARRAY', path: ['s'], pages: [dictionary, texts], values: 3, hasDictionary: true },
      { type: 'INT64', path: ['l', 'list', 'element'], pages: [times], values: 4 },
    ],
    3,
  );
  expect(await readAll(file)).toBe(3);
  let refused = 0;
  for (let at = 4; at < file.length; at++) {
    for (const flipped of [0x01, 0x10, 0x80, 0xff]) {
      const damaged = Buffer.from(file);
      damaged.writeUInt8((damaged[at] as number) ^ flipped, at);
      try {
        // A file may say that it has any number of rows. They are not all read.
        expect(await readAll(damaged)).toBeLessThan(2 ** 31);
      } catch (error) {
        expect(error, `byte ${at} ^ ${flipped}`).toBeInstanceOf(ParquetError);
        refused += 1;
      }
    }
  }
  expect(refused).toBeGreaterThan(file.length);
});

test('a row group of millions of rows in a few bytes is read in bounded memory', async () => {
  const rows = 2_000_000;
  const schema: Element[] = [
    { name: 'root', children: 1 },
    { name: 's', type: 'BYTE_ARRAY', converted: 'UTF8', repetition: 'required' },
  ];
  const indexes = page(Buffer.concat([Buffer.from([1]), run(0, rows)]), {
    count: rows,
    encoding: 'RLE_DICTIONARY',
  });
  const pages = [dictionaryPage(byteArrays(['x']), 1), indexes];
  const file = parquetFile(
    schema,
    [{ type: 'BYTE_ARRAY', path: ['s'], pages, values: rows, hasDictionary: true }],
    rows,
  );
  expect(file.length).toBeLessThan(1_000);
  const before = process.memoryUsage().rss;
  expect(await readAll(file)).toBe(rows);
  expect(process.memoryUsage().rss - before).toBeLessThan(300 << 20);
});

test('a list of millions of values is reported, and the row after it is read', async () => {
  const list: Element[] = [
    { name: 'a', repetition: 'optional', children: 1, converted: 'LIST' },
    { name: 'list', repetition: 'repeated', children: 1 },
    { name: 'element', type: 'INT32', repetition: 'optional' },
  ];
  const values = 3_000_000;
  const pages = [
    page(Buffer.alloc(0), { count: values, repetitions: [], definitions: [] }),
    page(int32s([7]), { count: 1, repetitions: [0], definitions: [3] }),
  ];
  const sized = (bytes: Buffer) => Buffer.concat([int32s([bytes.length]), bytes]);
  const levels = Buffer.concat([
    sized(Buffer.concat([run(0, 1), run(1, values - 1)])),
    sized(run(2, values)),
  ]);
  const header = struct({ 1: i32(values), 2: i32(0), 3: i32(3), 4: i32(3) });
  pages[0] = Buffer.concat([
    struct({ 1: i32(0), 2: i32(levels.length), 3: i32(levels.length), 5: header }).bytes,
    levels,
  ]);
  const chunk: Chunk = { type: 'INT32', path: ['a', 'list', 'element'], pages, values: values + 1 };
  expect(await dataOf(fileOf(list, [chunk], 2), true)).toEqual({
    data: [{ a: [7] }],
    bad: ['1: column "a": a list with more than 2,000,000 values cannot be stored'],
  });
});
