import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cosift, KEY, lines, serve, temporaryDirectory } from '../helpers/processes.js';

async function setUp(text: string) {
  const directory = await temporaryDirectory();
  const file = join(directory, 'a.ndjson');
  await writeFile(file, text);
  const data = join(directory, 'data');
  const target = ['--database', 'd', '--dimensions', '4', '--data', data];
  await cosift('import', file, ...target);
  const replace = async (text: string, ...args: string[]) => {
    await writeFile(file, text);
    return await cosift('import', file, '--delete-missing', ...target, ...args);
  };
  const count = async () => {
    const { stdout } = await cosift('databases', 'show', 'd', '--json', '--data', data);
    return JSON.parse(stdout).records as number;
  };
  return { data, file, replace, count };
}

test('the report says what was deleted', async () => {
  const { replace, count } = await setUp(lines(1, 200));
  const { code, stdout } = await replace(lines(11, 210));
  expect(stdout).toContain(': 10 created, 0 changed, 190 unchanged, 10 deleted, 0 bad lines\n');
  expect(code).toBe(0);
  expect(await count()).toBe(200);
});

test('too many deletions are refused, and the option that allows them is named', async () => {
  const { replace, count } = await setUp(lines(1, 200));
  const refused = await replace(lines(1, 150));
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toBe(
    '150 records are stored; nothing was deleted: the source lacks 50 of 200 records, and at most 20 may be deleted; ' +
      '--max-deletes 50 allows it\n',
  );
  expect(await count()).toBe(200);
  expect((await replace(lines(1, 150), '--max-deletes', '50')).stdout).toContain(' 50 deleted, ');
  expect((await replace('[]')).stderr).toContain(
    '0 records are stored; nothing was deleted: the source lacks 150 of 150 records, and at most 0 may be deleted',
  );
  expect(await count()).toBe(150);
  expect((await replace('[]', '--max-deletes', '150')).stdout).toContain(' 150 deleted, ');
});

test('nothing is deleted after a bad row, whether the file or the database refuses it', async () => {
  const { replace, count } = await setUp(lines(1, 20));
  const bad = ['{"id":', '{"id":30,"data":{"a":{}}}', '{"id":30,"data":{},"vector":[1]}'];
  for (const row of bad) {
    const refused = await replace(`${lines(1, 15)}${row}\n`, '--max-deletes', '100');
    expect(refused.code).toBe(1);
    const [report = '', stored] = refused.stderr.split('\n');
    expect(report).toMatch(/^line 16: /);
    expect(stored).toBe(
      '15 records are stored; nothing was deleted, because rows are bad; the others lack 5 records of the database',
    );
  }
  expect(await count()).toBe(20);
});

test('--max-deletes needs --delete-missing, and a whole number', async () => {
  const { file, data, replace } = await setUp(lines(1, 5));
  const alone = await cosift('import', file, '--database', 'd', '--data', data, '--max-deletes', '5');
  expect(alone.stderr).toContain('--max-deletes needs --delete-missing');
  expect((await replace('', '--max-deletes', '10%')).stderr).toContain('not a whole number');
});

test('a server is replaced by the same command, and a dry run changes nothing', async () => {
  const { data, file, replace, count } = await setUp(lines(1, 20));
  const dryRun = await replace(lines(1, 15), '--dry-run');
  expect(dryRun.stdout).toContain('dry run: 15 records would be stored');
  expect(dryRun.stdout).toContain('which records would be deleted is checked by the import only');
  expect(await count()).toBe(20);
  const { url } = await serve(data);
  const { stdout } = await cosift(
    'import',
    file,
    ...['--database', 'd', '--dimensions', '4', '--delete-missing', '--key', KEY, '--url', url],
  );
  expect(stdout).toContain(' 15 unchanged, 5 deleted, ');
});
