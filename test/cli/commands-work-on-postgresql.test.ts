import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NO_SERVER, PostgresServer } from '../../scripts/postgres/server.js';
import { resolveConfig } from '../../src/config/index.js';
import { Command, cosift, lines, temporaryDirectory } from '../helpers/processes.js';

const STORE = 'postgres://someone:hidden@127.0.0.1:9/none';

test.each([
  [['doctor', '--store', STORE], 'pg_amcheck'],
  [['backup', '--output', '-', '--store', STORE], 'pg_dump'],
  [['databases', 'list', '--store', STORE, '--url', 'http://127.0.0.1:9'], 'give either --store or --url'],
  [
    ['databases', 'list', '--store', 'mysql://hidden@x'],
    'must be a URL such as postgres://USER@HOST/DATABASE',
  ],
  [['databases', 'list', '--store', STORE], 'the database cannot be reached'],
  [
    ['serve', '--port', '0', '--store', STORE, '--threads', '2'],
    'give no threads or vector memory with a store',
  ],
  [['serve', '--port', '0', '--store-connections', '9'], '--store-connections: there is no store'],
])('%j fails and says why', async (args, reason) => {
  const { code, stdout, stderr } = await cosift(...args);
  expect(stderr).toContain(reason);
  expect(stdout + stderr).not.toContain('hidden');
  expect(code).toBe(1);
});

test('an option of the command line wins over a variable that names another target', async () => {
  const command = new Command(['databases', 'list', '--url', 'http://127.0.0.1:9', '--key', 'k'], {
    COSIFT_STORE: STORE,
  });
  expect(await command.ended()).toBe(1);
  expect(command.stderr).toContain('127.0.0.1:9');
  expect(command.stderr).not.toContain('database cannot be reached');
});

test('the settings show the store without its password', () => {
  const { config, settings } = resolveConfig({}, { COSIFT_STORE: `${STORE}?password=secret` });
  expect(config.store).toBe(`${STORE}?password=secret`);
  const shown = settings.find(({ name }) => name === 'store');
  expect(shown?.value).toBe('postgres://someone:***@127.0.0.1:9/none?password=***');
  expect(shown?.source).toBe('COSIFT_STORE');
});

describe.skipIf(NO_SERVER !== undefined)(`a PostgreSQL server${NO_SERVER ? ` (${NO_SERVER})` : ''}`, () => {
  let server: PostgresServer;
  let store: string;
  beforeAll(async () => {
    server = await PostgresServer.start();
    store = await server.createDatabase();
  });
  afterAll(() => server?.stop());

  test('records are imported, searched, listed, exported and deleted; keys are issued', async () => {
    const directory = await temporaryDirectory();
    const file = path.join(directory, 'records.ndjson');
    await writeFile(file, lines(1, 30));
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await cosift(...args, '--store', store);
      expect(code, stderr).toBe(0);
      return stdout;
    };
    await run('databases', 'create', 'shelf', '--dimensions', '4');
    await run('import', file, '--database', 'shelf');
    expect(await run('databases', 'list')).toContain('shelf');
    expect(await run('query', 'shelf', '--where', 'number > 28')).toContain('record 30');
    expect(await run('get', 'shelf', '7')).toContain('record 7');
    const exported = (await run('export', '--database', 'shelf')).trimEnd().split('\n');
    expect(exported.map((text) => JSON.parse(text).id)).toEqual(Array.from({ length: 30 }, (_, n) => n + 1));
    await run('delete', 'shelf', '--where', 'number > 20', '--yes');
    expect(JSON.parse(await run('databases', 'show', 'shelf', '--json')).records).toBe(20);
    expect(await run('key', 'create', '--name', 'k', '--databases', 'shelf')).toMatch(/^cosift_/);
    expect(await run('key', 'list')).toContain('shelf');
  });

  test('a bench that is stopped removes its records, and leaves a database of its name', async () => {
    const databases = async (where: string) =>
      (await server.run(`SELECT id FROM cosift.databases WHERE ${where} ORDER BY id`, 'test_1')).split('\n');
    expect((await cosift('databases', 'create', 'bench', '--store', store)).code).toBe(0);
    const command = new Command(['bench', '--records', '1000000', '--store', store]);
    await expect.poll(() => databases("id LIKE 'bench-%'")).not.toEqual(['']);
    command.child.kill('SIGTERM');
    expect(await command.ended()).toBe(130);
    expect(await databases("id LIKE 'bench%'")).toEqual(['bench']);
  });
});
