import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { open } from 'cosift';
import { afterAll, beforeAll, expect, test } from 'vitest';

const run = promisify(execFile);
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'cosift-place-'));
});
afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

test('a program that changes its working directory writes to the directory that it has opened', async () => {
  const other = path.join(directory, 'other');
  await mkdir(other);
  const program = `
    import { open } from '${new URL('../../dist/index.js', import.meta.url)}';
    const cosift = await open('data', { threads: 1 });
    process.chdir('other');
    const facts = await cosift.createDatabase('facts', { dimensions: 1 });
    await facts.upsert([{ id: 1, data: { text: 'kept' }, vector: [1] }]);
    await cosift.close();
  `;
  await run(process.execPath, ['--input-type=module', '-e', program], { cwd: directory });
  expect(existsSync(path.join(other, 'data'))).toBe(false);
  await using cosift = await open(path.join(directory, 'data'), { threads: 1 });
  expect((await cosift.database('facts').get(1))?.data).toEqual({ text: 'kept' });
});

test('a file in place of a directory is named', async () => {
  const file = path.join(directory, 'file');
  await writeFile(file, 'text');
  await expect(open(file)).rejects.toMatchObject({
    name: 'CosiftError',
    code: 'invalid_request',
    detail: `"${file}" is not a directory`,
  });
});

test('a database whose records bring their own times was not written before it was created', async () => {
  const root = path.join(directory, 'times');
  const first = await open(root, { threads: 1 });
  const facts = await first.createDatabase('facts', { dimensions: 1 });
  const timestamps = { created_at: '2001-01-01', changed_at: '2001-01-01', synced_at: '2001-01-01' };
  await facts.upsert([{ id: 1, data: { text: 'old' }, vector: [1], timestamps }]);
  await first.close();
  await using again = await open(root, { threads: 1 });
  const { times } = await again.database('facts').describe();
  expect(Date.parse(times.last_write_at)).toBeGreaterThanOrEqual(Date.parse(times.created_at));
});
