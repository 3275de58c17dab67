import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cosift, lines, temporaryDirectory } from '../helpers/processes.js';

test('defaults and the index of the words are set, changed and removed', async () => {
  const data = join(await temporaryDirectory(), 'data');
  const run = async (...args: string[]) => await cosift(...args, '--data', data);
  const shown = async () => JSON.parse((await run('databases', 'show', 'own', '--json')).stdout);
  const create = ['databases', 'create', 'own', '--dimensions', '4'];
  expect((await run(...create, '--default', 'threshold=1')).code).toBe(0);
  expect(await shown()).toMatchObject({ lexical: false, defaults: { threshold: 1 } });
  const file = join(data, '..', 'a.ndjson');
  await writeFile(file, lines(1, 3));
  await run('import', file, '--database', 'own', '--dimensions', '4');
  const search = ['search', '--vector', '[1,-1,1,-1]', '--database', 'own'];
  expect((await run(...search)).stderr).toContain('no record reaches the threshold\n');
  expect((await run(...search, '--threshold', '0.99')).stderr).toContain(
    'no record reaches the threshold 0.99',
  );

  const change = ['databases', 'change', 'own'];
  const changed = await run(
    ...change,
    '--lexical',
    '--default',
    'threshold=none, lexical=0.3',
    '--default',
    'limit=2',
  );
  expect(changed.stdout).toMatch(/^defaults of searches +lexical 0.3, limit 2$/m);
  expect(await shown()).toMatchObject({ lexical: true, defaults: { lexical: 0.3, limit: 2 } });
  const refused = await run(...change, '--no-lexical');
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('--default') });
  await run(...change, '--no-lexical', '--default', 'lexical=none,limit=none');
  expect(await shown()).toMatchObject({ lexical: false });
  expect(await shown()).not.toHaveProperty('defaults');

  const columns = await run(...change, '--lexical-columns', 'name=3,sku=2', '--lexical-columns', 'a,b=1');
  expect(columns.stdout).toMatch(/^columns with words +name 3, sku 2, a,b 1$/m);
  await run(...change, '--lexical-columns', 'name=none,a,b=5');
  expect(await shown()).toMatchObject({ lexical: { columns: { sku: 2, 'a,b': 5 } } });
  expect((await run(...change, '--lexical-columns', 'name=0')).stderr).toContain('from 1 to 100');
  expect((await run(...change, '--lexical-columns', 'sku=none,a,b=none')).stderr).toContain('would be empty');
  await run('databases', 'create', 'texts');
  const embedded = await run('databases', 'change', 'texts', '--embed', 'name,notes');
  expect(embedded).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^embedded columns +name, notes$/m),
  });

  const passages = await run('databases', 'change', 'texts', '--passages', 'per_record=4096, tokens=64');
  expect(passages.stdout).toMatch(/^embedded columns +name, notes\npassages +per_record 4096, tokens 64$/m);
  await run('databases', 'change', 'texts', '--passages', 'tokens=none', '--passages', 'overlap=0');
  const { embed } = JSON.parse((await run('databases', 'show', 'texts', '--json')).stdout);
  expect(embed).toEqual({ columns: ['name', 'notes'], passages: { overlap: 0, per_record: 4096 } });
  for (const [value, why] of [
    ['per_record=4097', '--passages /per_record: is 4097, must be from 1 to 4096'],
    ['per_record=-1', 'such as per_record=256'],
    ['tokens=300', '--passages /tokens: model "all-MiniLM-L6-v2" takes at most 256 tokens'],
    ['overlap=99', '--passages /overlap: must be at most half'],
  ] as const) {
    const { code, stderr } = await run('databases', 'change', 'texts', '--passages', value);
    expect([code, stderr]).toEqual([1, expect.stringContaining(why)]);
  }
  const long = join(data, '..', 'long.ndjson');
  await writeFile(long, `${JSON.stringify({ id: 1, text: 'some words and more. '.repeat(250) })}\n`);
  const document = ['import', long, '--database', 'documents', '--passages', 'tokens=16'];
  expect((await run(...document, '--dry-run')).stderr).toContain('at most 64 are allowed');
  expect((await run(...document, '--passages', 'per_record=300', '--dry-run')).code).toBe(0);
  expect((await run(...document, '--passages', 'per_record=300')).code).toBe(0);

  const everything = await run('databases', 'change', 'texts', '--embed-all');
  expect(everything.stdout).toMatch(/^embedded columns +every text$/m);
  const both = await run('databases', 'change', 'texts', '--embed-all', '--embed', 'name');
  expect(both).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot be used with') });

  const imported = ['import', file, '--database', 'other', '--dimensions', '4', '--lexical-columns'];
  expect((await run(...imported, 'nam=3')).stderr).toContain('--lexical-columns: there is no column "nam"');
  expect((await run(...imported, 'name=none')).stderr).toContain('"none" is not a whole number');
  await run(...imported, 'name=3');
  expect(JSON.parse((await run('databases', 'show', 'other', '--json')).stdout).lexical).toEqual({
    columns: { name: 3 },
  });

  expect((await run(...change)).stderr).toContain('give a setting to change');
  expect((await run(...change, '--default', 'limit')).stderr).toContain('such as threshold=0.1');
  expect((await run(...change, '--default', 'limit=1000')).stderr).toContain('1 to 100');
  expect((await run(...create, '--lexical')).stderr).toContain('`cosift databases change own` changes them');
});

test('nested objects are columns of a database that says so', async () => {
  const data = join(await temporaryDirectory(), 'data');
  const run = async (...args: string[]) => await cosift(...args, '--data', data);
  const shown = async (id: string) => JSON.parse((await run('databases', 'show', id, '--json')).stdout);
  const created = await run('databases', 'create', 'own', '--dimensions', '2', '--flatten');
  expect(created.stdout).toMatch(/^nested objects +columns of their own$/m);
  expect((await run('databases', 'change', 'own', '--no-flatten')).code).toBe(0);
  expect(await shown('own')).not.toHaveProperty('flatten');
  const file = join(data, '..', 'a.ndjson');
  await writeFile(file, '{"id":1,"a":{"b":[1,"x"],"c":[{}]},"vector":[1,2]}\n');
  // Rows of a file are flat before the database gets them, so one that exists needs no setting.
  const into = ['--flatten', '--dimensions', '2'];
  expect(await run('import', file, '--database', 'own', ...into)).toMatchObject({ code: 0, stderr: '' });
  expect(await run('import', file, '--database', 'new', ...into)).toMatchObject({ code: 0, stderr: '' });
  expect(await shown('own')).not.toHaveProperty('flatten');
  expect(await shown('new')).toMatchObject({ flatten: true });
  for (const id of ['own', 'new']) {
    const { stdout } = await run('get', id, '1', '--json');
    expect(JSON.parse(stdout).data).toEqual({ 'a.b': [1, 'x'], 'a.c': '[{}]' });
  }
});
