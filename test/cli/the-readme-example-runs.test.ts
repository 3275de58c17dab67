import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../helpers/processes.js';

test('the library example of the README prints what it says', async () => {
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  const [, example = ''] = readme.match(/```js\n([\s\S]*?)```/) ?? [];
  const library = new URL('../../dist/index.js', import.meta.url).href;
  expect(example).toContain("from 'cosift'");
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-'], {
    cwd: await temporaryDirectory(),
    input: example.replace("'cosift'", `'${library}'`),
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(status).toBe(0);
  expect(stdout).toMatch(/^1 0\.\d+ Eiffel Tower\nLake Baikal\n/);
});
