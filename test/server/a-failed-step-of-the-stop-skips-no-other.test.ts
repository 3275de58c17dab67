import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { resolveConfig } from '../../src/config/index.js';
import { start } from '../../src/server/main.js';

const directories: string[] = [];
afterEach(async () => {
  for (const directory of directories.splice(0)) await rm(directory, { recursive: true, force: true });
});

test('port and data are freed although the first step fails, and the stop reports the failure', async () => {
  const data = await mkdtemp(path.join(tmpdir(), 'cosift-stop-'));
  directories.push(data);
  const { config } = resolveConfig({ port: 0, data, logLevel: 'silent' }, {});
  const print = () => undefined;
  const { app, close } = await start(config, { print });
  const closeApp = app.close.bind(app);
  Object.assign(app, {
    close: async () => {
      await closeApp();
      throw new Error('a hook of the stop failed');
    },
  });
  await expect(close()).rejects.toThrow('a hook of the stop failed');
  // Another service may use the directory at once: the last step has run.
  await (await start(config, { print })).close();
});
