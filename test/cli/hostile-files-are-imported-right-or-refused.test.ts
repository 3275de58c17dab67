import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { ZstdFrames } from '../../src/readers/encoding/zstd-frames.js';
import { inFull } from '../helpers/full.js';
import { openFile, openInput, recordsOf, zstd } from '../helpers/imported-files.js';
import { temporaryDirectory } from '../helpers/processes.js';

const MEBIBYTE = 1 << 20;

const BLOCK = gzipSync(Buffer.alloc(25 * MEBIBYTE, 'y'), { level: 1 });

/** Writes a file of 300 MiB of equal characters after a beginning, compressed: concatenated gzip files are a gzip file. */
async function bomb(start: string): Promise<string> {
  const file = join(await temporaryDirectory(), 'bomb');
  await writeFile(file, [gzipSync(start), ...Array<Uint8Array>(12).fill(BLOCK)]);
  return file;
}

const LONG_ROWS = [
  ['a line of NDJSON', '{"id":1,"a":"x"}\n{"a":"'],
  ['a row of CSV', 'id,a\n1,x\n2,'],
  ['a quoted field of CSV', 'id,a\n1,x\n2,"'],
  ['an element of a list', '[{"id":1,"a":"x"},\n{"a":"'],
] as const;

test.each(inFull(LONG_ROWS, [LONG_ROWS[0], LONG_ROWS[2]]))(
  '%s of 300 MiB is reported, in bounded memory',
  async (_, start) => {
    const file = await bomb(start);
    expect((await stat(file)).size).toBeLessThan(4 * MEBIBYTE);
    const before = process.memoryUsage().rss;
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss);
    }, 20);
    const { records, bad } = await recordsOf(await openInput(file));
    clearInterval(watch);
    expect(records).toEqual([{ id: 1, data: { a: 'x' } }]);
    expect(bad[0]).toMatch(/^[23]: .*longer than/);
    // A row may have 64 MiB; it is held as text, as bytes, and once more when it is joined.
    expect(most - before).toBeLessThan(700 * MEBIBYTE);
  },
);

test('a CSV file of 20,000 columns is read, also with a name that occurs twice', async () => {
  const names = Array.from({ length: 20_000 }, (_, at) => `c${at}`);
  const values = names.map((_, at) => String(at));
  const { records } = await recordsOf((await openFile(`${names}\n${values}\n`)).input);
  expect(Object.keys(records[0]?.data ?? {})).toHaveLength(20_000);
  const twice = await openFile(`${names},c7\n${values},1\n`);
  expect(twice.input.format.header.notes).toEqual([
    'column 20001 is called "c7_2", because it has the name "c7" again',
  ]);
});

test.each([
  ['', 'the file is empty'],
  [' \n\n', 'the file is empty'],
  ['\ufeff', 'the file is empty'],
  ['PK\u0003\u0004 sheet', 'a ZIP archive or a spreadsheet'],
  ['SQLite format 3\0', 'a SQLite database'],
  ['a,b\0,c\n1,2,3\n', 'column 2 of the CSV header has a control character'],
])('%j is refused', async (content, reason) => {
  await expect(openFile(content)).rejects.toThrow(reason);
});

test.each([
  ['gzip', gzipSync(Buffer.from('id,a\n1,x\n'.repeat(1000)))],
  ['zstd', zstd(Buffer.from('id,a\n1,x\n'.repeat(1000)))],
])('%s that is cut off is refused', async (name, content) => {
  await expect(openFile(content.subarray(0, content.length - 5))).rejects.toThrow(
    `the ${name} data is damaged`,
  );
});

/** A zstd frame of the text "id,a\n1,x\n" in one block, with this header after the magic number. */
function frame(...header: number[]): Uint8Array {
  const content = Buffer.from('id,a\n1,x\n');
  const block = Uint8Array.of((content.length << 3) | 1, 0, 0);
  return Buffer.concat([Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, ...header), block, content]);
}

test.each([
  ['the first frame', [frame(0x00, 0xa0)]],
  ['a later frame', [zstd(Buffer.from('id,a\n2,y\n'.repeat(12_000))), frame(0x00, 0xa0)]],
  // A frame of a single segment has its content size in place of a window.
  ['a single segment', [frame(0xa0, 0x00, 0x00, 0x00, 0x10)]],
  [
    'a frame after a skippable one',
    [Uint8Array.of(0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 1, 2), frame(0x00, 0xa0)],
  ],
])('zstd data that needs much memory in %s is refused', (_, frames) => {
  const walker = new ZstdFrames();
  const bytes = Buffer.concat(frames);
  const windows = [...bytes].map((byte) => walker.largestWindow(Uint8Array.of(byte)));
  expect(Math.max(...windows)).toBeGreaterThan(128 << 20);
  // However it is cut into chunks.
  expect(new ZstdFrames().largestWindow(bytes)).toBe(Math.max(...windows));
});

test('zstd data whose second frame needs much memory is refused', async () => {
  const { input } = await openFile(zstd(Buffer.from('id,a\n1,x\n')));
  expect((await recordsOf(input)).records).toHaveLength(1);
  const content = Buffer.concat([zstd(Buffer.from('id,a\n1,x\n')), frame(0x00, 0xa0)]);
  await expect(openFile(content)).rejects.toThrow('needs a window of more than 128 MB');
});

test('Parquet that is cut off is refused', async () => {
  await expect(openFile('PAR1 and no end')).rejects.toThrow('its end is missing');
  await expect(openFile(gzipSync(Buffer.from('PAR1 and no end')))).rejects.toThrow('its end is missing');
});

test.each([
  ['only a header', 'a,b\n', []],
  ['NUL in a cell', 'a,b\n1,x\0y\n', [{ a: 1, b: 'x\0y' }]],
  [
    'CR only',
    'a,b\r1,"x\ry"\r2,z',
    [
      { a: 1, b: 'x\ry' },
      { a: 2, b: 'z' },
    ],
  ],
  [
    'CRLF and LF',
    'a,b\r\n1,x\n2,"y\r\nz"\r\n',
    [
      { a: 1, b: 'x' },
      { a: 2, b: 'y\r\nz' },
    ],
  ],
  ['a byte order mark', '\ufeffa,b\n1,x\n', [{ a: 1, b: 'x' }]],
  [
    'doubled quotes',
    'a,b\n1,""""\n2,"""x"""\n3,""\n',
    [
      { a: 1, b: '"' },
      { a: 2, b: '"x"' },
      { a: 3, b: '' },
    ],
  ],
  ['an empty list', '[]', []],
  ['an unclosed list', '[{"a":1,"b":2}', [{ a: 1, b: 2 }]],
  ['brackets in text', '[{"a":"]}\\"[{","b":1}]', [{ a: ']}"[{', b: 1 }]],
  ['no line end', '{"a":1,"b":2}', [{ a: 1, b: 2 }]],
])('%s is read right', async (name, content, expected) => {
  const { records, bad } = await recordsOf((await openFile(content)).input);
  expect(records.map(({ data }) => data)).toEqual(expected);
  expect(bad).toEqual(name === 'an unclosed list' ? [expect.stringContaining('is not closed')] : []);
});

test.each([
  ['{"a":1,}', 'is not JSON'],
  ['{"a":01}', 'is not JSON'],
  ['{"a":1} x', 'is not JSON'],
  ['{"a":"\t"}', 'is not JSON'],
  ['{"a":[1,]}', 'is not JSON'],
  ['{"a":"\\ud83d', 'is not closed'],
  ['{a:1}', 'is not JSON'],
  ['{}', 'the object is empty'],
  [
    '[1]',
    "is not a JSON object, but a list: name its values, for example by jq -c '.[] | {a: .[0], b: .[1]}'",
  ],
  ['NaN', 'is not a JSON object'],
])('the line %s is reported, and the others are read', async (line, reason) => {
  const { input } = await openFile(`{"a":1}\n${line}\n{"a":2}\n`);
  const { records, bad } = await recordsOf(input);
  expect(records.map(({ data }) => data)).toEqual([{ a: 1 }, { a: 2 }]);
  expect(bad).toEqual([expect.stringMatching(/^2: /)]);
  expect(bad[0]).toContain(reason);
});

test('rows are the same however the file is cut into chunks', async () => {
  const { CsvSplitter } = await import('../../src/readers/csv/splitter.js');
  const { DocumentSplitter } = await import('../../src/readers/json/documents.js');
  const csv = 'title\na,b\r\n1,"x""y\r\nz"\r\n\r\n2,\r\r\n"3" , ""  \n4,\'5\n';
  const dialect = { separator: ',', quote: '"', lineEnd: '\n', skippedLines: 1 } as const;
  const whole = new CsvSplitter(dialect, 1000);
  const expected = [...whole.add(csv), ...whole.finish()];
  expect(expected).toHaveLength(5);
  const json = Buffer.from('[{"a":"\u00eb]"},\n[1,{"b":2}], {"c":"\\\\\\""}\n]{"d":1}');
  const documents = new DocumentSplitter(1000);
  const values = [...documents.add(json), ...documents.finish()];
  expect(values.map(({ line }) => line)).toEqual([1, 2, 2, 3]);
  for (let size = 1; size < 12; size += 1) {
    const splitter = new CsvSplitter(dialect, 1000);
    const rows = [];
    for (let at = 0; at < csv.length; at += size) rows.push(...splitter.add(csv.slice(at, at + size)));
    expect([...rows, ...splitter.finish()], `chunks of ${size}`).toEqual(expected);
    const cut = new DocumentSplitter(1000);
    const found = [];
    for (let at = 0; at < json.length; at += size) found.push(...cut.add(json.subarray(at, at + size)));
    expect([...found, ...cut.finish()], `chunks of ${size}`).toEqual(values);
  }
});

const IMAGE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAABAAAAAQAQAAAAA3iMLMAAAAAmJLR0QAAd2KE6QAAAAHdElNRQfpBgEMAAAA',
  'base64',
);

test.each([
  [
    'a program',
    "import { a, b } from 'x';\n\nconst list = [a, b];\nfor (const x of list) {\n  b(x);\n}\n",
    'no table',
  ],
  ['a script', '#!/bin/sh\necho one\n', 'no table'],
  ['prose', '# Title\n\nSome text, and more.\n', 'no table'],
  ['HTML', '<!DOCTYPE html>\n<html><body>x</body></html>\n', 'an HTML or XML document'],
  ['an image', IMAGE, 'no text'],
])('%s is refused as no table', async (_name, content, reason) => {
  await expect(openFile(content)).rejects.toThrow(reason);
});

test('a file of one column with a name is a table, and any text with --format', async () => {
  const { input } = await openFile('name\nAda\nBob\n');
  expect((await recordsOf(input)).records.map(({ data }) => data)).toEqual([
    { name: 'Ada' },
    { name: 'Bob' },
  ]);
  await expect(openFile('#!/bin/sh\necho one\n', { format: 'csv' })).resolves.toBeDefined();
});
