import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { ADMIN } from '../../src/server/keys/caller.js';
import { openFileKeys } from '../../src/server/keys/key-file.js';
import { DataLock } from '../../src/store/local/data-lock.js';

const directories: string[] = [];
afterEach(async () => {
  for (const directory of directories.splice(0)) await rm(directory, { recursive: true, force: true });
});

const begin = async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'cosift-lock-'));
  directories.push(directory);
  return { directory, lock: path.join(directory, 'keys.json.locked') };
};
const issue = async (directory: string) => {
  const keys = await openFileKeys(directory, 'admin');
  await keys.issue({ name: 'k', actions: ['search'], databases: '*' }, ADMIN);
  expect(await keys.list(ADMIN)).toHaveLength(1);
  expect(await readdir(directory)).toEqual(['keys.json', 'keys.json.locked']);
};

test('one of a process that was killed while it held it, with its temporary file', async () => {
  const { directory, lock } = await begin();
  const program = `
    import { DataLock } from ${JSON.stringify(path.resolve('src/store/local/data-lock.ts'))};
    globalThis.lock = DataLock.take(${JSON.stringify(lock)});
    console.log('held');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 2],
  });
  await once(child.stdout!, 'data');
  expect(() => DataLock.take(lock)).toThrow(`process ${child.pid}`);
  await writeFile(path.join(directory, `keys.json.${child.pid}.tmp`), 'half');
  child.kill('SIGKILL');
  await once(child, 'close');
  await issue(directory);
});

test('one that is held is waited for', async () => {
  const { directory, lock } = await begin();
  const held = DataLock.take(lock);
  const take = vi.spyOn(DataLock, 'take');
  const issued = issue(directory);
  await expect.poll(() => take.mock.calls.length).toBeGreaterThan(1);
  held.release();
  await issued;
  take.mockRestore();
});
