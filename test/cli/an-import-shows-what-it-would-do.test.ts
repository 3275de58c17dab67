import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, link, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { open } from 'cosift';
import iconv from 'iconv-lite';
import { expect, test } from 'vitest';
import { testInFull } from '../helpers/full.js';
import { cosift, temporaryDirectory } from '../helpers/processes.js';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

// Each test starts several processes.
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
  expect(reports[21]).toContain(
    'with the same options and --encoding windows-1252 and --types id=text,name=text',
  );
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

/** Runs a line of the shell, in which `$cosift` is the command and `$0` is the directory. */
async function shell(directory: string, line: string) {
  const script = line.replaceAll('$cosift', `"${process.execPath}" "${MAIN}"`);
  return promisify(execFile)('sh', ['-c', script, directory]).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}

testInFull('standard input is not replaced by its bad rows, and standard output not by a file', async () => {
  const directory = await temporaryDirectory();
  const [file, log] = [join(directory, 'a.csv'), join(directory, 'log')];
  const text = 'id,name\n1,a\n2,b,c\n';
  await writeFile(file, text);
  const target = '--database d --data "$0/data"';
  const same = await shell(directory, `$cosift import - ${target} --bad-rows "$0/a.csv" < "$0/a.csv"`);
  expect(same.stderr).toContain('--bad-rows names the file that is imported');
  expect(await readFile(file, 'utf8')).toBe(text);

  await writeFile(log, 'earlier\n');
  await shell(directory, `$cosift import "$0/a.csv" ${target} --bad-rows /dev/stderr 2>> "$0/log"`);
  const logged = await readFile(log, 'utf8');
  expect(logged).toMatch(
    /^earlier\nline 3: the row has 3 fields.*\nid,name\n2,b,c\nthe bad rows are in \/dev\/stderr: /,
  );
  await writeFile(file, 'id,name\n1,a\n');
  await shell(directory, `$cosift import "$0/a.csv" ${target} --bad-rows /dev/stderr 2>> "$0/log"`);
  await shell(directory, `$cosift export ${target} --format ndjson --output /dev/stdout >> "$0/log"`);
  expect(await readFile(log, 'utf8')).toMatch(/^earlier\n(.*\n)*\{"id":1,.*\}\n$/);
  expect((await readdir(directory)).sort()).toEqual(['a.csv', 'data', 'log']);

  // More than the buffer of a pipe, for a reader that begins late.
  const slow = await shell(
    directory,
    `$cosift backup --data "$0/data" --output /dev/stdout | { sleep 1; wc -c; }`,
  );
  expect(Number(slow.stdout)).toBeGreaterThan(100_000);

  await writeFile(file, text);
  const none = await cosift(
    'import',
    file,
    '--database',
    'd',
    '--data',
    join(directory, 'data'),
    '--bad-rows',
    '/dev/null',
  );
  expect([none.code, existsSync('/dev/null.reasons')]).toEqual([1, false]);
  await symlink('bad', join(directory, 'bad.reasons'));
  const twice = await shell(directory, `$cosift import "$0/a.csv" ${target} --bad-rows "$0/bad"`);
  expect(twice.stderr).toMatch(/--bad-rows: .*bad\.reasons is the same file/);
});

test('bad rows can be imported with the options that are named, and are the bytes of the file', async () => {
  const directory = await temporaryDirectory();
  const [data, bad] = [join(directory, 'data'), join(directory, 'bad')];
  const file = async (content: string | Uint8Array) => {
    const name = join(directory, 'input');
    await writeFile(name, content);
    return name;
  };
  const load = (database: string, name: string, ...more: string[]) =>
    cosift(
      'import',
      name,
      '--database',
      database,
      '--data',
      data,
      '--dimensions',
      '2',
      '--bad-rows',
      bad,
      ...more,
    );
  const named = (stderr: string) => / the same options(?: and (.*))?$/m.exec(stderr)?.[1];
  const vector = '"vector":[1,0]';

  const pipe = `{"sku":"A",${vector},"n":1}\n{"sku":"2",${vector},"n":{}}\n{"sku":"B",${vector},"n":2}\n`;
  await file(pipe);
  const options = '--database pipe --data "$0/data" --dimensions 2 --id-column sku --bad-rows "$0/bad"';
  const piped = await shell(directory, `cat "$0/input" | $cosift import - ${options}`);
  expect(named(piped.stderr)).toBe('--types sku=text');
  await writeFile(bad, (await readFile(bad, 'utf8')).replace('{}', '3'));
  const again = await cosift(
    'import',
    bad,
    '--database',
    'pipe',
    '--data',
    data,
    '--id-column',
    'sku',
    '--types',
    'sku=text',
  );
  expect(again.stdout).toContain('1 created, 0 changed');

  const utf8 = Buffer.from(`{"id":1,${vector}}\n{"id":2,${vector},"n":"${'\u00e9'.repeat(12)} `);
  const cut = Buffer.concat([utf8, Uint8Array.of(0xe9), Buffer.from('"}\n')]);
  expect((await load('bytes', await file(cut))).stderr).toContain('line 2: the line is not UTF-8');
  expect(await readFile(bad)).toEqual(cut.subarray(cut.indexOf('\n') + 1));

  const wide = iconv.encode(`{"id":1,${vector}}\n{"id":2,${vector},"n":{}}\n`, 'utf-16le', { addBOM: true });
  expect(named((await load('wide', await file(wide))).stderr)).toBeUndefined();
  const corrected = (await readFile(bad, 'utf16le')).replace('{}', '1');
  expect((await load('wide', await file(Buffer.from(corrected, 'utf16le')))).stdout).toContain('1 created');

  const marked = iconv.encode(`id,t\n1,a\n2,b,c\n3,d,e\n`, 'utf-16');
  const read = await cosift(
    'import',
    await file(marked),
    '--database',
    'marked',
    '--data',
    data,
    '--bad-rows',
    bad,
    '--encoding',
    'utf-16',
  );
  expect(read.stdout).toContain('1 created');
  expect((await readFile(bad)).toString('utf16le')).toBe('\ufeffid,t\n2,b,c\n3,d,e\n');

  const zips = `{"id":1,${vector},"a":{"zip":12345678901234567890}}\n{"id":2,"vector":[1],"a":{"zip":11}}\n`;
  const flat = await load('flat', await file(zips), '--flatten');
  expect(named(flat.stderr)).toBe('--types a.zip=text');
  const refused = await file(`{"id":1,${vector},"m":12345678901234567890}\n{"id":2,"vector":[1],"n":1}\n`);
  expect(named((await load('refused', refused)).stderr)).toBeUndefined();

  const numbers = `{"id":1,${vector},"m":12345678901234567890}\n{"id":2,${vector},"n":{}}\n`;
  expect(named((await load('numbers', await file(numbers))).stderr)).toBeUndefined();

  const names = Array.from({ length: 9 }, (_, at) => `${at + 1};5;Zürich schön\n`).join('');
  const latin = iconv.encode(`id;"x,y";n\n${names}50;Größe\n`, 'windows-1252');
  const hint = named(
    (await cosift('import', await file(latin), '--database', 'text', '--data', data, '--bad-rows', bad))
      .stderr,
  );
  expect(hint).toBe('--encoding windows-1252 and --types x,y=number,n=text');
  const repaired = iconv.encode(
    iconv.decode(await readFile(bad), 'windows-1252').replace('50;', '50;7;'),
    'windows-1252',
  );
  const args = ['--encoding', 'windows-1252', '--types', 'x,y=number,n=text'];
  const last = await cosift('import', await file(repaired), '--database', 'text', '--data', data, ...args);
  expect(last.stdout).toContain('1 created, 0 changed, 0 unchanged, 0 bad lines');
});
