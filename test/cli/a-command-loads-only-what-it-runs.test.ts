import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { inFull } from '../helpers/full.js';
import { Command, cosift, temporaryDirectory } from '../helpers/processes.js';

const DIST = new URL('../../dist/', import.meta.url).href;

/** The modules of `src` that a command loads, as paths in it without an ending. `run` waits until the command has ended. */
async function modulesOf(
  args: readonly string[],
  run = (command: Command) => command.ended(),
): Promise<string[]> {
  const coverage = await temporaryDirectory();
  const command = new Command(args, { NODE_V8_COVERAGE: coverage });
  await run(command);
  expect(command.child.exitCode).toBe(0);
  const modules: string[] = [];
  for (const name of await readdir(coverage)) {
    const { result } = JSON.parse(await readFile(path.join(coverage, name), 'utf8'));
    for (const { url } of result as { url: string }[]) {
      // The map of a file of `dist` lists the modules in it.
      if (!url.startsWith(DIST) || !url.endsWith('.js')) continue;
      const { sources } = JSON.parse(await readFile(new URL(`${url}.map`), 'utf8'));
      for (const source of sources) modules.push(...(/\/src\/(.*)\.ts$/.exec(source)?.slice(1) ?? []));
    }
  }
  return modules;
}

/** The folders of these modules. */
const foldersOf = (modules: readonly string[]) =>
  new Set(modules.map((module) => module.slice(0, module.indexOf('/'))));

const LIGHT = [['--version'], ['--help'], ['search', '--help'], ['completion', 'bash'], ['config']];

test.each(inFull(LIGHT, [LIGHT[2]!, LIGHT[4]!]).map((args) => [args]))(
  '%j loads neither the library nor the server, and tables only to show one',
  async (args) => {
    const modules = await modulesOf(args);
    const folders = foldersOf(modules);
    expect(folders).toContain('cli');
    for (const folder of ['library', 'client', 'databases', 'store', 'embedding', 'server']) {
      expect(folders).not.toContain(folder);
    }
    expect(modules.includes('cli/table')).toBe(args[0] === 'config');
  },
);

test('a command that works on a directory loads the library, and no server', async () => {
  const data = await temporaryDirectory();
  await cosift('databases', 'create', 'facts', '--data', data);
  const folders = foldersOf(await modulesOf(['databases', 'list', '--data', data]));
  expect(folders).toContain('library');
  expect(folders).not.toContain('server');
});

test('a command and a server on a directory load nothing of PostgreSQL', async () => {
  const data = await temporaryDirectory();
  await cosift('databases', 'create', 'facts', '--data', data);
  const ofPostgres = (modules: string[]) => modules.filter((module) => module.includes('postgres'));
  expect(ofPostgres(await modulesOf(['key', 'list', '--data', data]))).toEqual([]);
  const started = await modulesOf(['serve', '--port', '0', '--data', data], async (command) => {
    await command.waitFor('stdout', /listening on/);
    command.child.kill('SIGTERM');
    return command.ended();
  });
  expect(started).toContain('server/main');
  expect(ofPostgres(started)).toEqual([]);
});
