import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { ConfigError, resolveConfig } from '../../src/config/index.js';
import { start } from '../../src/server/main.js';

const directories: string[] = [];
afterEach(async () => {
  for (const directory of directories.splice(0)) await rm(directory, { recursive: true, force: true });
});

const startOn = async (host: string, env: Record<string, string>, file?: string) => {
  const data = await mkdtemp(path.join(tmpdir(), 'cosift-admin-'));
  directories.push(data);
  if (file !== undefined) await writeFile(path.join(data, 'admin.key'), file);
  const { config } = resolveConfig({ port: 0, host, data, logLevel: 'silent' }, env);
  return (await start(config, { print: () => undefined })).close();
};

test.each(['0.0.0.0', '::', '192.0.2.1', 'example.org'])('on %s it stops the start', async (host) => {
  const failure = startOn(host, { COSIFT_ADMIN_KEY: 'fifteen-letters' });
  await expect(failure).rejects.toBeInstanceOf(ConfigError);
  await expect(failure).rejects.toThrow(/15 characters.*at least 16.*COSIFT_ADMIN_KEY/);
  await expect(startOn(host, {}, 'x\n')).rejects.toThrow(/admin\.key/);
});

test.each(['127.0.0.1', 'localhost'])('on %s it is accepted', async (host) => {
  await startOn(host, { COSIFT_ADMIN_KEY: 'x' });
});

test('a long one, and one that the service makes, is accepted everywhere', async () => {
  await startOn('0.0.0.0', { COSIFT_ADMIN_KEY: 'sixteen-letters!' });
  await startOn('0.0.0.0', {});
});
