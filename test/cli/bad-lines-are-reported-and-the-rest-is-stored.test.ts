import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BadRows } from '../../src/cli/import/bad-rows.js';
import type { Input } from '../../src/readers/input.js';
import { openInput } from '../../src/readers/open-input.js';
import { openSource } from '../../src/readers/source.js';
import { cosift, line, temporaryDirectory } from '../helpers/processes.js';

test('NDJSON: each bad line is named, the others are stored, and the exit code says so', async () => {
  const directory = await temporaryDirectory();
  const file = join(directory, 'records.ndjson');
  await writeFile(file, `${line(1)}{not json\n${line(2)}{"id":-3,"data":{}}\n${line(4)}`);
  const args = ['import', file, '--database', 'd', '--dimensions', '4', '--data', join(directory, 'data')];

  const first = await cosift(...args);
  expect(first.stderr.split('\n')).toEqual([
    expect.stringMatching(/^line 2: /),
    expect.stringMatching(/^line 4: \/id: /),
    '',
  ]);
  expect(first.stdout).toMatch(/^3 records .*: 3 created, 0 changed, 0 unchanged, 2 bad lines\n/);
  expect(first.code).toBe(1);

  const again = await cosift(...args);
  expect(again.stdout).toMatch(/: 0 created, 0 changed, 3 unchanged, 2 bad lines\n/);
});

test('CSV: values get their types, an empty field is null, a short row is reported', async () => {
  const directory = await temporaryDirectory();
  const file = join(directory, 'people.csv');
  const rows = [
    'id,name,zip,height,member,note',
    '7,"Ann, B.",00701,1.75,true,',
    '8,short',
    '9,Cy,x,2,false,"a ""b"""',
  ];
  await writeFile(file, `\uFEFF${rows.join('\r\n')}\r\n`);
  const data = join(directory, 'data');

  const stored = await cosift('import', file, '--database', 'people', '--data', data);
  expect(stored.stderr).toMatch(/^line 3: .*\n$/);
  expect(stored.stdout).toMatch(/^2 records /);
  expect(stored.code).toBe(1);

  const found = await cosift(
    'search',
    'a person',
    '--database',
    'people',
    '--threshold',
    '0',
    '--json',
    '--data',
    data,
  );
  const { results } = JSON.parse(found.stdout);
  const byId = Object.fromEntries(results.map(({ id, data }: { id: number; data: object }) => [id, data]));
  expect(byId).toEqual({
    7: { name: 'Ann, B.', zip: '00701', height: 1.75, member: true, note: null },
    9: { name: 'Cy', zip: 'x', height: 2, member: false, note: 'a "b"' },
  });
});

test('what cannot be done is said in one line', async () => {
  const directory = await temporaryDirectory();
  const data = join(directory, 'data');
  const missing = await cosift('import', join(directory, 'none.ndjson'), '--database', 'd', '--data', data);
  expect(missing).toMatchObject({ code: 1, stdout: '' });
  expect(missing.stderr).toMatch(/^cosift: there is no file .*none\.ndjson\n$/);

  const unknown = await cosift('search', 'x', '--database', 'd', '--data', data);
  expect(unknown.stderr).toMatch(/^cosift: there is no data directory .*\n$/);
  expect(unknown.code).toBe(1);
});

async function inputOf(name: string, content: string) {
  const file = join(await temporaryDirectory(), name);
  await writeFile(file, content);
  const input = await openInput(await openSource(file, new AbortController().signal), {}, () => undefined);
  return { file, bad: `${file}.bad`, input };
}

/** Reads all records, and returns what is printed about those that cannot be stored. */
async function badRowsOf(input: Input, file: string): Promise<string[]> {
  const printed: string[] = [];
  const badRows = new BadRows({ file }, (text) => printed.push(text));
  await badRows.open(input);
  for await (const _ of input.records((row, reason) => badRows.add(row, reason)));
  await badRows.write(true);
  badRows.close();
  return printed;
}

test('a directory for the bad rows that is missing is named, and nothing is stored', async () => {
  const directory = await temporaryDirectory();
  const file = join(directory, 'a.csv');
  await writeFile(file, 'id,a\n1,x\n');
  const missing = join(directory, 'none');
  const args = ['--database', 'd', '--data', join(directory, 'data'), '--bad-rows', join(missing, 'x.bad')];
  expect(await cosift('import', file, ...args)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: `cosift: --bad-rows: there is no directory ${missing}\n`,
  });
});

test('several bad records on one line of JSON are reported and written each', async () => {
  const { bad, input } = await inputOf(
    'a.json',
    '[{"a":{}},{"a":1},{"a":[[2]]},{"b":{"c":1}}\n,{"id":1},{"id":1}]',
  );
  const printed = await badRowsOf(input, bad);
  expect(printed).toHaveLength(5);
  expect(printed.slice(0, 4).sort()).toEqual([
    expect.stringMatching(/^line 1: column "a": /),
    'record 2 on line 2: an earlier record on this line has the id 1 too; only that is stored',
    expect.stringMatching(/^record 3 on line 1: column "a": /),
    expect.stringMatching(/^record 4 on line 1: column "b": /),
  ]);
  expect(await readFile(bad, 'utf8')).toBe('{"a":{}}\n{"a":[[2]]}\n{"b":{"c":1}}\n{"id":1}\n');
});

test('bad rows are written in the order of the file, in whatever order they are found', async () => {
  const { bad, input } = await inputOf('a.csv', 'id;zip;n;"a b"\n1;007;1;\n2;008;2;x\n');
  const printed: string[] = [];
  const badRows = new BadRows({ file: bad }, (text) => printed.push(text));
  await badRows.open(input);
  for (const line of [3, 2]) badRows.add({ line, raw: () => `row ${line}` }, 'wrong');
  badRows.add({ line: 2, record: 2, raw: () => 'a further row' }, 'wrong');
  await badRows.write(true);
  badRows.close();
  expect(await readFile(bad, 'utf8')).toBe('id;zip;n;"a b"\nrow 2\na further row\nrow 3\n');
  expect(await readFile(`${bad}.reasons`, 'utf8')).toBe(
    'line 2: wrong\nrecord 2 on line 2: wrong\nline 3: wrong\n',
  );
  // The bad rows alone could suggest other types.
  expect(printed.at(-1)).toMatch(/with the same options and --types 'zip=text,n=number,a b=text'$/);
});
