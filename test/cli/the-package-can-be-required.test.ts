import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../helpers/processes.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CLIENT_PACKAGE = new URL('../../packages/client/dist/', import.meta.url);

/** Runs a CommonJS program of a user, by the names of the packages. Returns what it prints as JSON. */
async function printed(program: string): Promise<unknown> {
  const node = promisify(execFile)(process.execPath, ['--input-type=commonjs', '-e', program], { cwd: ROOT });
  const { stdout, stderr } = await node;
  // Node reports a `require` of an ES module as experimental.
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

test('require and import give the same library', async () => {
  const required = createRequire(import.meta.url)('cosift') as typeof import('../../src/index.cjs');
  const cosift = await required.open(await temporaryDirectory());
  try {
    const facts = await cosift.createDatabase('facts');
    await facts.upsert([{ id: 1, data: { text: 'The Eiffel Tower is in Paris', height_m: 330 } }]);
    const { results } = await facts.search('a tower in France');
    expect(results.map(({ id }) => id)).toEqual([1]);
  } finally {
    await cosift.close();
  }
});

test('there is one class of errors, whichever way it is loaded', async () => {
  const data = await temporaryDirectory();
  const program = `(async () => {
    const [required, client, ai] = ['cosift', 'cosift/client', 'cosift/ai'].map(require);
    const [imported, importedClient] = [await import('cosift'), await import('cosift/client')];
    const classes = [required, client, imported, importedClient].map(({ CosiftError }) => CosiftError);
    const cosift = await required.open(${JSON.stringify(data)});
    const thrown = await cosift.database('none').describe().catch((error) => error);
    const remote = new client.Client({ url: 'http://127.0.0.1:9', key: 'k', retries: 0 });
    let refused;
    try { ai.searchTool(cosift.database('none'), { limit: 0 }); } catch (error) { refused = error; }
    const unreachable = await remote.databases().catch((error) => error);
    await cosift.close();
    console.log(JSON.stringify({
      classes: new Set(classes).size,
      refused: refused instanceof imported.CosiftError,
      thrown: [thrown instanceof required.CosiftError, thrown.code],
      unreachable: [unreachable instanceof imported.CosiftError, unreachable.code],
    }));
  })()`;
  expect(await printed(program)).toEqual({
    classes: 1,
    refused: true,
    thrown: [true, 'database_not_found'],
    unreachable: [true, 'unreachable'],
  });
});

test.each([
  ['cosift', 'cosift'],
  ['cosift/client', 'cosift/client'],
  ['cosift/ai', 'cosift/ai'],
  [new URL('index.cjs', CLIENT_PACKAGE).pathname, new URL('index.js', CLIENT_PACKAGE).href],
])('require of %s gives all that import gives', async (required, imported) => {
  const program = `(async () => {
    const names = (module) => Object.keys(module).filter((name) => !['default', 'module.exports'].includes(name));
    const [required, imported] = [require(${JSON.stringify(required)}), await import(${JSON.stringify(imported)})];
    console.log(JSON.stringify({ required: names(required).sort(), imported: names(imported).sort() }));
  })()`;
  const names = (await printed(program)) as { required: string[]; imported: string[] };
  // The class of what \`open\` returns is not constructed by callers.
  expect(names.required).toEqual(names.imported.filter((name) => name !== 'Cosift'));
  expect(names.required).toContain(required === 'cosift/ai' ? 'searchTool' : 'CosiftError');
});
