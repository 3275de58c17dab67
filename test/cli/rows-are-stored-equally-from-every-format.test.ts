import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { open } from 'cosift';
import { parquetWriteBuffer } from 'hyparquet-writer';
import iconv from 'iconv-lite';
import { expect, test } from 'vitest';
import { BadRows } from '../../src/cli/import/bad-rows.js';
import { dryRun } from '../../src/cli/import/dry-run.js';
import { upsertResumably } from '../../src/cli/import/resumable-upsert.js';
import { inFull } from '../helpers/full.js';
import { openFile, openInput, recordsOf, zstd } from '../helpers/imported-files.js';
import { temporaryDirectory } from '../helpers/processes.js';

const ROWS = inFull(600, 300);
const COLUMNS = ['id', 'sku', 'zip', 'account', 'version', 'day', 'price', 'open', 'name', 'note'];
type Row = Record<string, string | number | boolean | null>;

/** Rows with the values that imports have changed or lost: missing ids are empty. */
const ROWS_OF_FILE: Row[] = Array.from({ length: ROWS }, (_, at) => ({
  id: at % 7 === 0 ? null : at % 5 === 0 ? `X-${at}` : String(at),
  sku: at % 11 === 0 ? null : `SKU, "${at}"`,
  zip: String(at).padStart(5, '0'),
  account: `${12_345_678_901_234n + BigInt(at)}567890`,
  version: `1.${at}0`,
  day: `2024-02-${String((at % 28) + 1).padStart(2, '0')}`,
  price: at / 8,
  open: at % 2 === 0,
  name: `Na\u00efve \ud83d\ude00 "quoted" ${at % 50}`,
  note: at % 3 === 0 ? null : `line 1\nline 2; \t'${at % 20}',\r\n`,
}));

const quoted = (value: unknown) => (value === null ? '' : `"${String(value).replaceAll('"', '""')}"`);
const csv = (separator: string, lineEnd = '\n') =>
  [COLUMNS, ...ROWS_OF_FILE.map((row) => COLUMNS.map((name) => row[name] ?? null))]
    .map((fields) => fields.map(quoted).join(separator) + lineEnd)
    .join('');
const ndjson = ROWS_OF_FILE.map((row) => `${JSON.stringify(row)}\n`).join('');

function parquet(): Uint8Array {
  const typeOf = (name: string) => (name === 'price' ? 'DOUBLE' : name === 'open' ? 'BOOLEAN' : 'STRING');
  return new Uint8Array(
    parquetWriteBuffer({
      columnData: COLUMNS.map((name) => ({
        name,
        data: ROWS_OF_FILE.map((row) => row[name] ?? null),
        type: typeOf(name),
      })),
      rowGroupSize: 250,
    }),
  );
}

const FILES: [string, string, string | Uint8Array][] = [
  ['CSV', 'CSV', csv(',')],
  ['CSV with semicolons', 'CSV, separated by ";"', csv(';', '\r\n')],
  ['TSV', 'TSV', csv('\t')],
  ['UTF-16', 'CSV, utf-16le', iconv.encode(csv(','), 'utf-16le', { addBOM: true })],
  ['NDJSON', 'NDJSON', ndjson],
  ['NDJSON with a byte order mark', 'NDJSON', `\ufeff${ndjson}`],
  ['a list', 'JSON', JSON.stringify(ROWS_OF_FILE)],
  ['a pretty list', 'JSON', JSON.stringify(ROWS_OF_FILE, null, 2)],
  ['pretty objects', 'JSON', ROWS_OF_FILE.map((row) => JSON.stringify(row, null, 2)).join('\n')],
  ['Parquet', 'Parquet', parquet()],
  ['gzip', 'CSV, gzip', gzipSync(csv(','))],
  ['zstd', 'NDJSON, zstd', zstd(Buffer.from(ndjson))],
];

test('a file is read back equal in every cell, and again from every other format as the same records', async () => {
  const directory = await temporaryDirectory();
  const library = await open(join(directory, 'data'));
  try {
    const database = await library.createDatabase('d', { embed: { columns: ['none'] } });
    for (const [at, [name, description, content]] of FILES.entries()) {
      const file = join(directory, 'file');
      await writeFile(file, content);
      const input = await openInput(file);
      expect(input.format.description, name).toBe(description);
      const bad: string[] = [];
      const result = await upsertResumably(
        database,
        input.records((row, reason) => bad.push(`${row.line}: ${reason}`)),
        {
          signal: new AbortController().signal,
          remote: false,
          onBad: (row, reason) => bad.push(`${row.line}: ${reason}`),
          onProgress: () => undefined,
        },
      );
      expect(bad, name).toEqual([]);
      const [created, unchanged] = at === 0 ? [ROWS, 0] : [0, ROWS];
      expect({ name, ...result }).toMatchObject({ name, created, changed: 0, unchanged });
    }
    const stored: unknown[] = [];
    const inOrder = { sort: { column: 'zip', direction: 'asc' } } as const;
    for await (const { data } of database.queryAll(inOrder)) stored.push(data);
    expect(stored).toEqual(ROWS_OF_FILE);
  } finally {
    await library.close();
  }
});

test.each<[string, string, unknown[]]>([
  ['12345678901234567890', '1', ['12345678901234567890', '1']],
  ['0.12345678901234567890', '1.50', ['0.12345678901234567890', '1.50']],
  ['1e400', '2', ['1e400', '2']],
  ['9007199254740993', '-0', ['9007199254740993', '-0']],
  ['9007199254740991', '1.10', [9007199254740991, 1.1]],
  ['1e3', '-0', [1000, 0]],
])('JSON: numbers %s and %s of one column keep their digits', async (a, b, expected) => {
  for (const content of [
    `{"n":${a}}\n{"n":${b}}\n`,
    `[{"n":${b}},{"n":${a}}]`,
    `{"data":{"n":${a}}}\n{"data":{"n":${b}}}`,
  ]) {
    const { records } = await recordsOf((await openFile(content)).input);
    expect(new Set(records.map(({ data }) => data.n))).toEqual(new Set(expected));
  }
});

test('JSON: values keep their own types, and --types sets the type of a column', async () => {
  const content = '{"a":1.10,"b":"2","c":true}\n{"a":"x","b":3,"c":null}\n';
  const own = await recordsOf((await openFile(content)).input);
  expect(own.records.map(({ data }) => data)).toEqual([
    { a: 1.1, b: '2', c: true },
    { a: 'x', b: 3, c: null },
  ]);
  const declared = await openFile(content, { types: { a: 'text', b: 'number', c: 'text' } });
  expect((await recordsOf(declared.input)).records.map(({ data }) => data)).toEqual([
    { a: '1.10', b: 2, c: 'true' },
    { a: 'x', b: 3, c: null },
  ]);
});

test('JSON: a nested value is reported with its column, or flattened', async () => {
  const content = '{"id":1,"to":{"city":"Oslo","at":{"n":10.50}},"tags":["a",1]}\n{"id":2,"to":null}\n';
  const { bad, records } = await recordsOf((await openFile(content)).input);
  expect(bad).toEqual([expect.stringMatching(/^1: column "to": the value is an object, .*--flatten/)]);
  expect(records).toEqual([{ id: 2, data: { to: null } }]);
  const flat = await recordsOf((await openFile(content, { flatten: true })).input);
  expect(flat.records[0]).toEqual({
    id: 1,
    data: { 'to.city': 'Oslo', 'to.at.n': 10.5, tags: ['a', 1] },
  });
  const twice = await openFile('{"a":{"b":1},"a.b":2}\n', { flatten: true });
  expect((await recordsOf(twice.input)).bad).toEqual([
    expect.stringContaining('two members are the column "a.b"'),
  ]);
});

test('JSON: the order of columns is kept, and a member that occurs twice is reported', async () => {
  const { input } = await openFile('{"z":1,"2024":2,"a":3,"__proto__":"x"}\n{"a":1,"a":2}\n');
  const texts: string[] = [];
  const bad: string[] = [];
  for await (const rows of input.records((_, reason) => bad.push(reason))) {
    for (const { json } of rows) texts.push(Buffer.from(json).toString());
  }
  expect(texts).toEqual([expect.stringContaining('"data":{"z":1,"2024":2,"a":3,"__proto__":"x"}}\n')]);
  expect(bad).toEqual(['the member "a" occurs twice']);
});

test('vectors of JSON and Parquet are vectors of the records', async () => {
  const expected = [{ id: 1, data: { a: 'x' }, vector: [0.5, -1] }];
  const json = await openFile('{"id":1,"a":"x","vector":[0.5,-1]}\n');
  expect((await recordsOf(json.input)).records).toEqual(expected);
  const element = { name: 'element', type: 'DOUBLE', repetition_type: 'OPTIONAL' } as const;
  const buffer = parquetWriteBuffer({
    schema: [
      { name: 'root', num_children: 3 },
      { name: 'id', type: 'INT64', repetition_type: 'REQUIRED' },
      { name: 'a', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
      { name: 'vector', num_children: 1, converted_type: 'LIST', repetition_type: 'OPTIONAL' },
      { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
      element,
    ],
    columnData: [
      { name: 'id', data: [1n] },
      { name: 'a', data: ['x'] },
      { name: 'vector', data: [[0.5, -1]] },
    ],
  });
  expect((await recordsOf((await openFile(new Uint8Array(buffer))).input)).records).toEqual(expected);
});

test('Parquet: long integers, decimals and times keep every digit; what no record holds is reported', async () => {
  const buffer = parquetWriteBuffer({
    schema: [
      { name: 'root', num_children: 7 },
      { name: 'long', type: 'INT64', repetition_type: 'REQUIRED' },
      { name: 'small', type: 'INT64', repetition_type: 'OPTIONAL' },
      { name: 'day', type: 'INT32', converted_type: 'DATE', repetition_type: 'REQUIRED' },
      {
        name: 'time',
        type: 'INT64',
        logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'NANOS' },
        repetition_type: 'REQUIRED',
      },
      {
        name: 'price',
        type: 'INT64',
        converted_type: 'DECIMAL',
        scale: 2,
        precision: 18,
        repetition_type: 'REQUIRED',
      },
      { name: 'unsigned', type: 'INT64', converted_type: 'UINT_64', repetition_type: 'REQUIRED' },
      { name: 'ratio', type: 'DOUBLE', repetition_type: 'REQUIRED' },
    ],
    columnData: [
      { name: 'long', data: [9007199254740993n, 1n, 2n] },
      { name: 'small', data: [7n, null, 8n] },
      { name: 'day', data: [new Date('2024-02-29'), new Date('1969-12-31'), new Date(0)] },
      { name: 'time', data: [1_700_000_000_123_456_789n, -1n, 0n] as never },
      { name: 'price', data: [1.1, -0.05, 3] },
      { name: 'unsigned', data: [18446744073709551615n, 1n, 2n] as never },
      { name: 'ratio', data: [0.1, -0, Number.NaN] },
    ],
  });
  const { records, bad } = await recordsOf((await openFile(new Uint8Array(buffer))).input);
  expect(records.map(({ data }) => data)).toEqual([
    {
      long: '9007199254740993',
      small: 7,
      day: '2024-02-29',
      time: '2023-11-14T22:13:20.123456789Z',
      price: 1.1,
      unsigned: '18446744073709551615',
      ratio: 0.1,
    },
    {
      long: '1',
      small: null,
      day: '1969-12-31',
      time: '1969-12-31T23:59:59.999999999Z',
      price: -0.05,
      unsigned: '1',
      ratio: 0,
    },
  ]);
  expect(bad).toEqual([
    '3: column "ratio": NaN is no number that a record can hold: null stands for no value; --skip-columns ratio leaves the column out',
  ]);
});

test('JSON: an empty object has no columns, and an empty list stays one', async () => {
  const { input } = await openFile('{"id":1,"a":{},"b":{"c":{},"d":[]}}\n', { flatten: true });
  expect((await recordsOf(input)).records).toEqual([{ id: 1, data: { 'b.d': [] } }]);
});

test('JSON, Parquet: a list is flattened to one text, however the file is written', async () => {
  const list = '[1.50,"a b\\u00e9\\/",{"z":[],"a":null}]';
  const spaced = '[ 1.50 ,\r\n\t"a b\\u00e9\\/" , { "z" : [ ] , "a" : null } ]';
  const data = { list: '[1.50,"a b\u00e9/",{"z":[],"a":null}]' };
  const uuids = new Set();
  for (const content of [`{"list":${list}}\n`, `[\n{\n"list" : ${spaced}\n}\n]`, `{"list":\n${spaced} }`]) {
    const { records } = await recordsOf((await openFile(content, { flatten: true })).input);
    expect(records).toMatchObject([{ data }]);
    uuids.add(records[0]?.uuid);
  }
  expect(uuids.size).toBe(1);
  const columnData = [{ name: 'list', data: [[1, 2.5]] as unknown[], type: 'JSON' as const }];
  const parquet = await openFile(new Uint8Array(parquetWriteBuffer({ columnData })), { flatten: true });
  expect((await recordsOf(parquet.input)).records).toMatchObject([{ data: { list: '[1,2.5]' } }]);
});

test('JSON: an object with data and other members is a row', async () => {
  const event = (id: number) =>
    `{"id":${id},"type":"push","data":{"repo":"a","on":{"x":1},"tags":["t"]},"actor":"bob"}\n`;
  const nested = await recordsOf((await openFile(event(1))).input);
  expect(nested).toEqual({
    records: [],
    bad: [
      '1: "type", "actor": no members of a record with "data"; --flatten stores the object as a row, with columns such as "data.name"',
    ],
  });
  const row = (id: number) => ({
    id,
    data: { type: 'push', 'data.repo': 'a', 'data.on.x': 1, 'data.tags': ['t'], actor: 'bob' },
  });
  for (const options of [{}, { idColumn: 'id' }]) {
    const { input } = await openFile(event(1) + event(2), { flatten: true, ...options });
    expect(input.identity).toMatchObject({ column: 'id', kind: 'id' });
    expect(await recordsOf(input)).toEqual({ records: [row(1), row(2)], bad: [] });
  }
  // A wrong name in one of many records does not change what is stored.
  const record = '{"id":3,"data":{"repo":"b"}}\n';
  const mixed = await recordsOf((await openFile(record + event(1), { flatten: true })).input);
  expect(mixed.records).toEqual([{ id: 3, data: { repo: 'b' } }]);
  expect(mixed.bad).toEqual([
    expect.stringMatching(/^2: "type", "actor": no members of a record .* --id-column/),
  ]);
  const named = await recordsOf((await openFile(record + event(1), { flatten: true, idColumn: 'id' })).input);
  expect(named.records).toEqual([{ id: 3, data: { 'data.repo': 'b' } }, row(1)]);
});

test('CSV: a first line of Excel declares the separator', async () => {
  for (const lineEnd of ['\n', '\r\n', '\r']) {
    const content = ['sep=;', 'id;a,b', '1;x, y', '2'].join(lineEnd) + lineEnd;
    const { input } = await openFile(content);
    const { records, bad } = await recordsOf(input);
    expect(records).toEqual([{ id: 1, data: { 'a,b': 'x, y' } }]);
    expect(bad).toEqual(['4: the row has 1 field, the header 2 columns']);
    expect(input.format.header.raw).toBe('sep=;\nid;a,b');
  }
  const strange = await openFile('sep=!\r\nid!a\r\n1!x\r\n');
  expect((await recordsOf(strange.input)).records).toEqual([{ id: 1, data: { a: 'x' } }]);
});

/** Prints and reports of a dry run. */
async function dryRunOf(content: string, dimensions?: number): Promise<{ lines: string[]; bad: string[] }> {
  const { input } = await openFile(content);
  const bad: string[] = [];
  const badRows = new BadRows({}, (text) => bad.push(text));
  const data = join(await temporaryDirectory(), 'data');
  const target = { database: 'd', data, ...(dimensions !== undefined && { dimensions }) };
  const calls = { badRows, stop: new AbortController().signal, onProgress: () => undefined };
  return { lines: await dryRun(input, target, calls), bad };
}

test('a dry run names the members that identify records', async () => {
  const { lines } = await dryRunOf('{"key":"a","data":{"x":1}}\n{"key":"b","data":{"x":2}}\n');
  expect(lines).toContain('identity: the member "key" next to "data"');
  const both = await dryRunOf('{"id":1,"data":{"x":1}}\n{"key":"b","data":{"x":2}}\n');
  expect(both.lines).toContain('identity: the members "id" and "key" next to "data"');
});

test('a dry run reports texts and vectors that the database would refuse', async () => {
  const rows =
    '{"id":1,"data":{"a":"\\ud800"}}\n{"id":2,"data":{"a":"b"},"vector":[1,0]}\n{"id":3,"data":{"a":"c"}}\n';
  const { lines, bad } = await dryRunOf(rows);
  expect(bad.sort()).toEqual([
    'line 1: column "a": contains half of a surrogate pair',
    expect.stringMatching(/^line 2: \/vector: this database embeds its records with model all-MiniLM-L6-v2/),
  ]);
  expect(lines.at(-1)).toContain('dry run: 1 record would be stored');
  // With dimensions, the vectors are those of the records.
  const own = await dryRunOf(rows, 2);
  expect(own.lines.at(-1)).toContain('dry run: 1 record would be stored');
  expect(own.bad).toContain('line 3: /vector: this database has no model: give 2 numbers');
});

test('Parquet: a row of which one value cannot be stored decides types as the others do', async () => {
  const columnData = [
    { name: 'id', data: [1, 2], type: 'INT32' as const },
    { name: 'big', data: [1n, 1152921504606846976n], type: 'INT64' as const },
    { name: 'ratio', data: [1, Number.NaN], type: 'DOUBLE' as const },
  ];
  const { input } = await openFile(new Uint8Array(parquetWriteBuffer({ columnData })));
  expect((await recordsOf(input)).records).toEqual([{ id: 1, data: { big: '1', ratio: 1 } }]);
  // The bad row alone is imported with the same type.
  expect(input.decidedTypes()).toEqual([['big', 'text']]);
});
