import { existsSync } from 'node:fs';
import { copyFile, link, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { open } from 'cosift';
import iconv from 'iconv-lite';
import { expect, test, vi } from 'vitest';
import { cosift, temporaryDirectory } from '../helpers/processes.js';

// Each test starts several processes.
vi.setConfig({ testTimeout: 300_000 });

test('a dry run prints types, identity, records and bad rows, and writes nothing', async () => {
  const directory = await temporaryDirectory();
  const [file, data, bad] = ['a.csv', 'data', 'bad.csv'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  await writeFile(file, 'sku;price;zip\nA-1;1.5;01234\n;2;90210\nB;3\n');
  const args = ['--database', 'd', '--data', data, '--id-column', 'sku', '--bad-rows', bad, '--dry-run'];
  const shown = await cosift('import', file, ...args);
  expect(shown.stderr).toBe('line 4: the row has 2 fields, the header 3 columns\n');
  expect(shown.code).toBe(1);
  expect(shown.stdout).toContain('read as CSV, separated by ";"\n');
  expect(shown.stdout).toContain(
    'identity: the column "sku" (keys); rows without one: 1, by their content\n',
  );
  expect(shown.stdout).toContain('columns by type: text: sku, zip; number: price (');
  expect(shown.stdout).toMatch(/ {2}\{"key":"A-1","data":\{"sku":"A-1","price":1\.5,"zip":"01234"\}\}\n/);
  expect(shown.stdout).toContain(
    `dry run: 2 records would be stored in the database "d", which would be created in the directory ${data}; 1 bad line`,
  );
  expect([existsSync(data), existsSync(bad), existsSync(`${bad}.reasons`)]).toEqual([false, false, false]);
});

test('the rows that are not stored are written in the form of the input, and can be imported once corrected', async () => {
  const directory = await temporaryDirectory();
  const [file, data, bad] = ['a.csv', 'data', 'bad.csv'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  const library = await open(data);
  await library.createDatabase('d', { embed: { columns: ['none'] } });
  await library.close();
  const wrong = Array.from({ length: 25 }, (_, at) => `${at + 10};"caf\u00e9 ${at}\n;";x\n`);
  const text = `id;name;price\n1;ok;1.10\n${wrong.join('')}2;short\n0;"caf\u00e9";2\n`;
  await writeFile(file, iconv.encode(text, 'windows-1252'));
  const load = (name: string, ...types: string[]) =>
    cosift('import', name, '--database', 'd', '--data', data, '--bad-rows', bad, '--types', ...types);
  const first = await load(file, 'price=number');
  expect(first.code).toBe(1);
  expect(first.stdout).toContain('2 created, 0 changed, 0 unchanged, 26 bad lines');
  const reports = first.stderr.trimEnd().split('\n');
  expect(reports).toHaveLength(22);
  expect(reports[0]).toBe('line 3: column "price": "x" is not a number');
  expect(reports[20]).toBe('and 6 more bad rows');
  expect(reports[21]).toContain(`the bad rows are in ${bad}, the reasons in ${bad}.reasons: `);
  expect(reports[21]).toContain('with the same options and --types id=text,name=text');
  expect(iconv.decode(await readFile(bad), 'windows-1252')).toBe(`id;name;price\n${wrong.join('')}2;short\n`);
  const reasons = (await readFile(`${bad}.reasons`, 'utf8')).trimEnd().split('\n');
  expect(reasons).toHaveLength(26);
  expect(reasons[25]).toBe('line 53: the row has 2 fields, the header 3 columns');

  const input = join(directory, 'input.reasons');
  const hard = join(directory, 'hard.csv');
  await copyFile(bad, input);
  await link(input, hard);
  for (const name of [input, hard, join(directory, 'input')]) {
    const same = await cosift('import', input, '--database', 'd', '--data', data, '--bad-rows', name);
    expect(same.stderr).toContain('--bad-rows names the file that is imported');
    expect(await readFile(input)).toEqual(await readFile(bad));
  }
  const corrected = join(directory, 'corrected.csv');
  const repaired = (await readFile(bad))
    .toString('latin1')
    .replaceAll(';x', ';3')
    .replace('2;short', '2;short;4');
  await writeFile(corrected, Buffer.from(repaired, 'latin1'));
  const second = await load(corrected, 'price=number,id=text');
  expect(second).toMatchObject({ code: 0, stderr: '' });
  expect(second.stdout).toContain('26 created, 0 changed');
  expect([existsSync(bad), existsSync(`${bad}.reasons`)]).toEqual([false, false]);
});

test('rows that the service refuses are written too, for a list of objects as NDJSON', async () => {
  const directory = await temporaryDirectory();
  const [file, data, bad] = ['a.json', 'data', 'bad'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  await writeFile(
    file,
    '[{"id":1,"data":{"a":1},"vector":[1,2]},\n{"id":2,\n"data":{"a":1},"vector":[1,2,3]},\n{"id":3,"data":{},"vector":[0,1]}]',
  );
  const args = ['--database', 'd', '--dimensions', '2', '--data', data, '--bad-rows', bad];
  const stored = await cosift('import', file, ...args);
  expect(stored.stderr).toMatch(/^line 2: \/vector: /);
  expect(stored.stdout).toContain('2 created, 0 changed, 0 unchanged, 1 bad line');
  expect(await readFile(bad, 'utf8')).toBe('{"id":2, "data":{"a":1},"vector":[1,2,3]}\n');
});

test('the files of bad rows are replaced by an import that has read its rows, and by no other', async () => {
  const directory = await temporaryDirectory();
  const [file, bad] = [join(directory, 'a.csv'), join(directory, 'bad.csv')];
  const load = (...more: string[]) =>
    cosift('import', file, '--database', 'd', '--data', join(directory, 'data'), '--bad-rows', bad, ...more);
  const files = async () => (await readdir(directory)).sort();
  await writeFile(file, 'id,name\n1,a,b\n2,c\n');
  expect((await load()).stderr).toContain(`the bad rows are in ${bad}, the reasons in ${bad}.reasons`);
  const all = ['a.csv', 'bad.csv', 'bad.csv.reasons', 'data'];
  expect(await files()).toEqual(all);

  await writeFile(file, 'id,name\n1,a\n2,c\n');
  expect((await load('--embed', 'none')).code).toBe(1);
  expect((await load('--url', 'http://localhost:1')).code).toBe(1);
  expect(await files()).toEqual(all);
  expect(await readFile(bad, 'utf8')).toBe('id,name\n1,a,b\n');

  expect(await load()).toMatchObject({ code: 0, stderr: '' });
  expect(await files()).toEqual(['a.csv', 'data']);
});

test('files of bad rows that cannot be written are named', { skip: !existsSync('/dev/full') }, async () => {
  const directory = await temporaryDirectory();
  const [file, bad] = [join(directory, 'a.csv'), join(directory, 'bad.csv')];
  const load = (name: string) =>
    cosift('import', file, '--database', 'd', '--data', join(directory, 'data'), '--bad-rows', name);
  await writeFile(file, 'id,name\n1,a,b\n2,c\n');
  expect(await load(directory)).toMatchObject({
    code: 1,
    stderr: `cosift: --bad-rows: ${directory} is a directory: give the name of a file\n`,
  });
  await symlink('/dev/full', `${bad}.reasons`);
  const full = await load(bad);
  expect(full.code).toBe(1);
  expect(full.stdout).toContain('1 record in ');
  expect(full.stderr).toContain(`cosift: ${bad}.reasons cannot be written: `);
  expect(full.stderr).not.toContain('the bad rows are in');
});
