import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { open } from '../../src/index.js';
import { cosift, temporaryDirectory } from '../helpers/processes.js';

const RECORDS = [
  { id: 1, data: { tags: ['b', 'a', 'b', '', 'x, "y"\n'], sizes: [1.5, -2, 1e300], open: [true, false] } },
  { id: 2, data: { tags: [], sizes: [0], open: [] } },
  { id: 3, data: { tags: null, sizes: [7, 7] } },
  { id: 4, data: { tags: ['😀', '[1]'], open: [false] } },
];

async function run(...args: string[]): Promise<{ stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await cosift(...args);
  expect(code, stderr).toBe(0);
  return { stdout, stderr };
}

/** The data of the records of a database without nulls, which CSV and Parquet do not distinguish from missing values. */
async function dataOf(directory: string, id: string): Promise<object[]> {
  const library = await open(directory);
  try {
    const { results } = await library.database(id).query({ sort: { time: 'created_at' } });
    const sorted = results.toSorted((a, b) => a.id - b.id);
    return sorted.map(({ data }) =>
      Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null)),
    );
  } finally {
    await library.close();
  }
}

test('lists are read from JSON and written to every format, which is read back equal', async () => {
  const directory = await temporaryDirectory();
  const data = join(directory, 'data');
  const file = (name: string) => join(directory, name);
  await writeFile(file('in.ndjson'), RECORDS.map((record) => `${JSON.stringify(record)}\n`).join(''));
  await writeFile(
    file('in.json'),
    JSON.stringify(
      RECORDS.map(({ id, data }) => ({ id, ...data })),
      null,
      2,
    ),
  );
  const types = ['tags', 'sizes', 'open'].map((name) => `${name}=list`).join(',');
  const expected = RECORDS.map(({ data }) => {
    return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null));
  });
  const imported = async (name: string, database: string, ...options: string[]) => {
    await run('import', file(name), '--database', database, '--data', data, ...options);
    expect(await dataOf(data, database), name).toEqual(expected);
  };
  await imported('in.ndjson', 'lines');
  await imported('in.json', 'list');
  for (const [format, ...options] of [['ndjson'], ['csv', '--types', types], ['parquet']]) {
    const output = file(`out.${format}`);
    const { stderr } = await run('export', '--database', 'lines', '--output', output, '--data', data);
    expect(stderr).not.toContain('as text');
    await imported(`out.${format}`, format as string, ...options);
  }
  expect(await readFile(file('out.csv'), 'utf8')).toContain('"[""😀"",""[1]""]"');
});

test('lists that no record can have, and texts that are no lists, are reported', async () => {
  const directory = await temporaryDirectory();
  const data = ['--data', join(directory, 'data')];
  const reported = async (name: string, content: string, ...options: string[]) => {
    const path = join(directory, name);
    await writeFile(path, content);
    const { code, stdout, stderr } = await cosift('import', path, '--database', 'd', ...data, ...options);
    expect(code).toBe(1);
    return stderr + stdout;
  };
  const lines = await reported(
    'bad.ndjson',
    ['[1,null]', '[[1]]', '["a",{"b":1}]', '[12345678901234567890123]', '["a",1]']
      .map((tags, at) => `{"id":${at + 1},"tags":${tags}}\n`)
      .join(''),
  );
  for (const what of ['null', 'a list', 'an object']) {
    expect(lines).toContain(`the value is a list with ${what} in it`);
  }
  expect(lines).toContain('cannot be stored as a number without changing it');
  const cells = ['[1]', '', '[1,]', 'a', '{}', '[null]'].map((cell, at) => `${at + 1},"${cell}"\n`).join('');
  const csv = await reported('bad.csv', `id,tags\n${cells}`, '--types', 'tags=list');
  for (const cell of ['[1,]', 'a', '{}']) expect(csv).toContain(`"${cell}" is no list`);
  expect(csv).toContain('the value is a list with null in it');
  expect(csv).toContain('2 created');
});

test('a column of Parquet with lists and other values, or of lists with several types, is text', async () => {
  const directory = await temporaryDirectory();
  const data = ['--data', join(directory, 'data')];
  const input = join(directory, 'in.ndjson');
  const rows = [
    { id: 1, data: { some: ['a', 1], mixed: ['a', 1] } },
    { id: 2, data: { some: 'b', mixed: [true] } },
  ];
  await writeFile(input, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  await run('import', input, '--database', 'd', ...data);
  const output = join(directory, 'out.parquet');
  const { stderr } = await run('export', '--database', 'd', '--output', output, ...data);
  expect(stderr).toContain('column "some" has values of the types text and number and list');
  expect(stderr).toContain('column "mixed" has values of the types text and number and boolean');
  await run('import', output, '--database', 'e', ...data);
  expect(await dataOf(join(directory, 'data'), 'e')).toEqual([
    { some: '["a",1]', mixed: ['a', '1'] },
    { some: 'b', mixed: ['true'] },
  ]);
});
