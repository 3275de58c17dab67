import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { open } from 'cosift';
import { afterEach, beforeEach, expect, test } from 'vitest';

let root: string;
let directory: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'cosift-shared-'));
  directory = path.join(root, 'data');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const record = { id: 1, data: { a: 'b' }, vector: [1, 0] };
const closed = { code: 'not_ready' };

/** The databases that another process finds in the directory, or the code of its error. */
async function elsewhere(): Promise<string> {
  const program = `
    import { open } from ${JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)};
    try {
      const cosift = await open(process.argv[1]);
      console.log((await cosift.databases()).map(({ id }) => id).join());
      await cosift.close();
    } catch (error) {
      console.log(error.code);
    }`;
  const args = ['--input-type=module', '--eval', program, directory];
  return (await promisify(execFile)(process.execPath, args)).stdout.trim();
}

test('a directory that is opened again is shared, and closed with the last', async () => {
  mkdirSync(directory);
  const link = path.join(root, 'link');
  symlinkSync(directory, link);
  const [first, second, third] = await Promise.all([open(directory), open(`${directory}/`), open(link)]);
  const written = await first.createDatabase('own', { dimensions: 2 });
  await written.upsert([record]);
  const read = second.database('own');
  expect((await read.search({ vector: [1, 0] })).results).toHaveLength(1);
  await Promise.all([first.close(), first.close()]);
  await expect(written.search({ vector: [1, 0] })).rejects.toMatchObject(closed);
  await expect(written.upsert([record])).rejects.toMatchObject(closed);
  await expect(written.describe()).rejects.toMatchObject(closed);
  await expect(first.databases()).rejects.toMatchObject(closed);
  expect(() => first.database('own')).not.toThrow();
  expect((await third.database('own').search({ vector: [1, 0] })).results).toHaveLength(1);
  await third.close();
  expect((await read.get(1))?.data).toEqual(record.data);
  expect(await elsewhere()).toBe('data_locked');
  await second.close();
  expect(await elsewhere()).toBe('own');
});

test('an open that meets a close waits for it', async () => {
  const first = await open(directory);
  await (await first.createDatabase('own', { dimensions: 2 })).upsert([record]);
  const closing = first.close();
  const [second, third] = await Promise.all([open(directory), open(directory)]);
  await closing;
  expect((await second.database('own').describe()).records).toBe(1);
  await second.close();
  expect((await third.database('own').describe()).records).toBe(1);
  await third.close();
});

test('an open that is aborted leaves the others', async () => {
  const leaving = new AbortController();
  const aborted = open(directory, { signal: leaving.signal });
  const staying = open(directory);
  leaving.abort(new Error('changed my mind'));
  await expect(aborted).rejects.toThrow('changed my mind');
  const cosift = await staying;
  expect(await cosift.databases()).toEqual([]);
  await cosift.close();
  expect(await elsewhere()).toBe('');
});

test('a second open takes the options of the first, and refuses others', async () => {
  const embed = async (texts: readonly string[]) => texts.map(() => [1, 0]);
  const models = { own: { dimensions: 2, embed } };
  const first = await open(directory, { threads: 1, models });
  const other = expect.objectContaining({ pointer: '/threads' });
  await expect(open(directory, { threads: 2 })).rejects.toMatchObject({
    code: 'invalid_request',
    problems: [other],
  });
  await expect(open(directory, { models: { own: { dimensions: 3, embed } } })).rejects.toThrow('/models');
  const second = await open(directory, { threads: 1, models: { own: { dimensions: 2, embed } } });
  await first.close();
  expect((await second.embed(['a'], { model: 'own' }))[0]).toEqual(Float32Array.from([1, 0]));
  await second.close();
});

test('a directory that cannot be opened is tried again', async () => {
  const held = promisify(execFile)(process.execPath, [
    '--input-type=module',
    '--eval',
    `import { open } from ${JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)};
     const cosift = await open(process.argv[1]);
     process.stdout.write('open');
     process.stdin.on('end', () => cosift.close()).resume();`,
    directory,
  ]);
  await new Promise((resolve) => held.child.stdout?.once('data', resolve));
  const outcomes = await Promise.allSettled([open(directory), open(directory)]);
  for (const outcome of outcomes) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'data_locked' } });
  }
  held.child.stdin?.end();
  await held;
  const cosift = await open(directory);
  await cosift.close();
});

test('a model that is loaded at the opening embeds the first search', async () => {
  let loaded = 0;
  const embed = async (texts: readonly string[]) => {
    loaded += 1;
    return texts.map(() => [1, 0]);
  };
  const models = { own: { dimensions: 2, embed } };
  const cosift = await open(directory, { models });
  await cosift.createDatabase('own', { model: 'own', embed: { columns: ['a'] } });
  await cosift.close();
  const warm = await open(directory, { models, warm: true });
  await warm.close();
  const gone = open(directory, { warm: true });
  await expect(gone).rejects.toThrow('own');
  expect(loaded).toBe(0);
  expect(await elsewhere()).toBe('own');
});
