import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { ADMIN } from '../../src/server/keys/caller.js';
import { openKeyStore } from '../../src/server/keys/open-key-store.js';

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
  const keys = await openKeyStore(directory, 'admin');
  await keys.issue({ name: 'k', actions: ['search'], databases: '*' }, ADMIN);
  expect(await keys.list(ADMIN)).toHaveLength(1);
  expect(await readdir(directory)).toEqual(['keys.json']);
};

// A clock that was set back an hour makes a lock look as if it were renewed in an hour.
test.each([
  ['a minute ago', -60_000],
  ['just now', 0],
  ['an hour ahead', 3_600_000],
])('one that was renewed %s', async (_, ms) => {
  const { directory, lock } = await begin();
  await mkdir(lock);
  const renewed = new Date(Date.now() + ms);
  await utimes(lock, renewed, renewed);
  await issue(directory);
});

test('one of a process that was killed while it held it, with its temporary file', async () => {
  const { directory, lock } = await begin();
  const file = path.join(directory, 'keys.json');
  const program = `
    import lockfile from 'proper-lockfile';
    await lockfile.lock(${JSON.stringify(file)}, { lockfilePath: ${JSON.stringify(lock)}, realpath: false });
    console.log('held');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 2],
  });
  await once(child.stdout!, 'data');
  await writeFile(`${file}.${child.pid}.tmp`, 'half');
  child.kill('SIGKILL');
  await once(child, 'close');
  expect(await readdir(directory)).toContain('keys.json.locked');
  await issue(directory);
});
