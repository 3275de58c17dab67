import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { resolveConfig } from '../../src/config/index.js';
import { start } from '../../src/server/main.js';

const directories: string[] = [];
afterEach(async () => {
  for (const directory of directories.splice(0)) await rm(directory, { recursive: true, force: true });
});

test.each([{}, { COSIFT_ADMIN_KEY: 'given' }])('a start removes them, and no other file: %j', async (env) => {
  const data = await mkdtemp(path.join(tmpdir(), 'cosift-left-'));
  directories.push(data);
  const left = ['admin.key.12.tmp', 'keys.json.345.tmp', 'webhooks.json.6.tmp'];
  const others = ['keys.json.old.tmp', 'notes.12.tmp'];
  for (const name of [...left, ...others]) await writeFile(path.join(data, name), '');
  const { config } = resolveConfig({ port: 0, data, logLevel: 'silent' }, env as Record<string, string>);
  await (await start(config, { print: () => undefined })).close();
  const files = await readdir(data);
  expect(files.filter((name) => left.includes(name))).toEqual([]);
  expect(files).toEqual(expect.arrayContaining(others));
});
