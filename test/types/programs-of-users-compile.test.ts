import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inFull } from '../helpers/full.js';

const run = promisify(execFile);
const HERE = fileURLToPath(new URL('.', import.meta.url));
const TSC = path.join(
  path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
  'bin/tsc',
);

/** Does not check the declarations of TypeScript itself, which takes half of the time. */
const WITHOUT_LIB = ['--skipDefaultLibCheck'];

/** Returns the errors of the compiler for the programs of a configuration. */
async function errorsOf(config: string): Promise<string> {
  const args = [TSC, '-p', config, '--pretty', 'false', ...WITHOUT_LIB];
  return run(process.execPath, args).then(
    () => '',
    ({ stdout }) => String(stdout),
  );
}

/** Runs the compiler on the programs of a user, and returns its output. */
async function compile(config: string, ...options: string[]): Promise<string> {
  const args = [TSC, '-p', path.join(HERE, 'programs', config), ...options];
  return run(process.execPath, args).then(
    ({ stdout }) => stdout,
    ({ stdout, stderr }) => Promise.reject(new Error(`${stdout}${stderr}`)),
  );
}

test('good uses compile, misuses do not, and checking them is little work', async () => {
  const output = await compile('tsconfig.json', '--extendedDiagnostics');
  const [, instantiations] = /Instantiations:\s*(\d+)/.exec(output) ?? [];
  expect(Number(instantiations)).toBeLessThan(150_000);
});

const STRICT = ['--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];
const BUNDLERS = ['--module', 'preserve', '--moduleResolution', 'bundler'];

const EACH: [string, string[]][] = [
  ['exact optional members and checked indexes', STRICT],
  ['the module resolution of bundlers', BUNDLERS],
];
const BOTH: [string, string[]][] = [['both', [...STRICT, ...BUNDLERS]]];

test.each(inFull(EACH, BOTH))('the same holds with %s', async (_, options) => {
  expect(await compile('tsconfig.json', ...WITHOUT_LIB, ...options)).toBe('');
});

describe('compiled programs', () => {
  // Inside the package, so that the programs can import it by its name.
  let out: string;
  beforeAll(async () => {
    out = await mkdtemp(path.join(HERE, 'out-'));
    await compile('tsconfig.json', ...WITHOUT_LIB, '--noEmit', 'false', '--declaration', '--outDir', out);
  });
  afterAll(() => rm(out, { recursive: true }));

  test('every type that a program exports by inference has a name or is written out', async () => {
    const declarations = await readFile(path.join(out, 'inferred.d.ts'), 'utf8');
    expect(declarations).not.toMatch(/\bany\b|\bdist\b/);
    expect(declarations).toContain('operator: "equals"');
  });

  test('await using closes a directory, as TypeScript compiles it for this Node', async () => {
    const { stdout } = await run(process.execPath, [path.join(out, 'dispose.js'), path.join(out, 'data')]);
    expect(stdout).toBe('0 function\nclosed\n');
  });
});

test('an error points to the member that is wrong, and says in a few lines why', async () => {
  const directory = await mkdtemp(path.join(HERE, 'out-'));
  try {
    const misuses = await readFile(path.join(HERE, 'programs', 'misuses.ts'), 'utf8');
    await writeFile(path.join(directory, 'misuses.ts'), misuses.replaceAll('// @ts-expect-error', '//'));
    for (const file of ['product.ts', 'tsconfig.json'])
      await cp(path.join(HERE, 'programs', file), path.join(directory, file));
    const output = await errorsOf(path.join(directory, 'tsconfig.json'));
    const errors = output.trimEnd().split(/\n(?! )/);
    const lines = new Set(errors.map((error) => /\((\d+),/.exec(error)?.[1]));
    expect(lines.size).toBe(misuses.match(/@ts-expect-error/g)?.length);
    // A wrong rule in a group is the deepest: the group, its rules, the rule, its column.
    expect(errors.filter((error) => error.split('\n').length > 10)).toEqual([]);
    expect(output).not.toMatch(/No overload matches|IteratorResult|Symbol/);
    expect(errors.filter((error) => /treshold/.test(error))).toEqual([
      expect.stringMatching(/'SearchOptions<Data>'. Did you mean to write 'threshold'\?$/),
      expect.stringMatching(/'SearchOptions<Data>'. Did you mean to write 'threshold'\?$/),
    ]);
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('the client and the library compile without the types of Node', async () => {
  expect(await compile('tsconfig.browser.json', ...WITHOUT_LIB)).toBe('');
});
