import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { RUNTIMES } from '../../src/embedding/runtime.js';
import { ENGINES } from '../../src/store/local/load-engine.js';

const root = path.resolve(import.meta.dirname, '../..');
const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
const NATIVE = path.join(root, 'native');
const ENGINE = readdirSync(NATIVE).find((name) => name.endsWith('.node'))!;
const PLATFORM = ENGINE.split('.')[1]!;
const ONNXRUNTIME_NODE = path.dirname(
  createRequire(import.meta.url).resolve('onnxruntime-node/package.json'),
);

const projects: string[] = [];
afterAll(() => {
  for (const project of projects) rmSync(project, { recursive: true, force: true });
});

/** Makes a project with cosift and its dependencies, but without the packages that cosift loads on demand. */
function project(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'cosift-installed-'));
  projects.push(directory);
  const modules = path.join(directory, 'node_modules');
  mkdirSync(path.join(modules, 'cosift'), { recursive: true });
  mkdirSync(path.join(modules, '@cosift'));
  for (const name of readdirSync(path.join(root, 'node_modules'))) {
    const isOurs = name === '@cosift' || name.startsWith('onnxruntime') || name.startsWith('.');
    if (!isOurs) symlinkSync(path.join(root, 'node_modules', name), path.join(modules, name));
  }
  for (const part of ['dist', 'web']) {
    cpSync(path.join(root, part), path.join(modules, 'cosift', part), { recursive: true });
  }
  cpSync(path.join(root, 'package.json'), path.join(modules, 'cosift/package.json'));
  return directory;
}

/** Installs a package of these files. */
function install(directory: string, name: string, files: Record<string, string | Uint8Array>): string {
  const target = path.join(directory, 'node_modules', name);
  mkdirSync(target, { recursive: true });
  for (const [file, content] of Object.entries(files)) writeFileSync(path.join(target, file), content);
  return target;
}

function installEngine(
  directory: string,
  file: string | Uint8Array,
  version: string = manifest.version,
): string {
  const name = `@cosift/engine-${PLATFORM}`;
  const description = JSON.stringify({ name, version, main: ENGINE });
  return path.join(install(directory, name, { 'package.json': description, [ENGINE]: file }), ENGINE);
}

/** Runs a program in the project and returns what it prints. */
async function run(directory: string, program: string): Promise<string> {
  const args = ['--input-type=module', '-e', program];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: directory });
  return stdout;
}

const PRINT_FAILURE = ".catch((error) => console.log(error.name + ' ' + error.code + ': ' + error.message));";
const OPEN = `import { open } from 'cosift'; await open('data')${PRINT_FAILURE}`;
const EMBED = `
  import { open } from 'cosift';
  const cosift = await open('data');
  const own = await cosift.createDatabase('own', { dimensions: 2 });
  await own.upsert([{ id: 7, data: { name: 'mine' }, vector: [1, 0] }]);
  const { results } = await own.search({ vector: [1, 0] });
  console.log(results[0].id, results[0].relevance_score);
  await cosift.createDatabase('texts')${PRINT_FAILURE}
  await cosift.close();
`;

test('an engine that is not installed', async () => {
  const directory = project();
  const printed = await run(directory, OPEN);
  expect(printed).toMatch(/^CosiftError not_installed: the engine of cosift could not be loaded on /);
  expect(printed).toContain(`${process.platform} ${process.arch} (`);
  if (process.platform === 'linux') expect(printed).toMatch(/\((glibc|musl) \d+\.\d+\S*, Node v/);
  expect(printed).toContain(`Node ${process.version})`);
  expect(printed).toContain(path.join('node_modules/cosift/native', `${ENGINE}: there is no such file`));
  expect(printed).toContain(`- @cosift/engine-${PLATFORM}: Cannot find module '@cosift/engine-${PLATFORM}'`);
  expect(printed).toContain(`npm install @cosift/engine-${PLATFORM}@${manifest.version}\n`);
  expect(printed).toContain('--omit=optional');
  expect(printed).toContain('build it from source');

  const cli = path.join(directory, 'node_modules/cosift/dist/cli/main.js');
  const { stdout } = await promisify(execFile)(process.execPath, [cli, '--help'], { cwd: directory });
  expect(stdout).toContain('Usage: cosift');
  const failed = promisify(execFile)(process.execPath, [cli, 'serve'], { cwd: directory });
  // A list of what was tried and of the fixes is only readable with a line for each.
  await expect(failed).rejects.toMatchObject({
    stderr: expect.stringMatching(/^cosift: the engine .*\n- .*\n- @cosift\/engine-.*\n\nInstall .*\nnpm /),
  });
});

test('an engine whose file is damaged, or of another architecture', async () => {
  const other = process.arch === 'x64' ? 'arm64' : 'x64';
  const foreign = path.join(ONNXRUNTIME_NODE, `bin/napi-v6/linux/${other}/onnxruntime_binding.node`);
  for (const content of ['not a library', readFileSync(foreign)]) {
    const directory = project();
    const file = installEngine(directory, content);
    const printed = await run(directory, OPEN);
    expect(printed).toMatch(/^CosiftError not_installed: /);
    // The cause is the text of the operating system.
    expect(printed).toMatch(new RegExp(`- \\S*${path.basename(file)}: (?!there is no such file)\\S+`));
    expect(printed).toContain(path.join(`@cosift/engine-${PLATFORM}`, ENGINE));
    expect(printed).toContain('The file is damaged');
    expect(printed).not.toContain('--omit=optional');
  }
});

test('an engine of another version', async () => {
  const directory = project();
  installEngine(directory, readFileSync(path.join(NATIVE, ENGINE)), '0.0.7');
  const printed = await run(directory, OPEN);
  expect(printed).toMatch(/^CosiftError not_installed: /);
  expect(printed).toContain(
    `- @cosift/engine-${PLATFORM}@0.0.7: cosift is version ${manifest.version}, and needs the same of its engine\n`,
  );
  expect(printed).toContain(`npm install @cosift/engine-${PLATFORM}@${manifest.version}\n`);
  expect(printed).not.toContain('The file is damaged');
});

test('the model and onnxruntime, which vectors of your own do not need', async () => {
  const directory = project();
  installEngine(directory, readFileSync(path.join(NATIVE, ENGINE)));
  const withoutModel = await run(directory, EMBED);
  expect(withoutModel).toMatch(/^7 1\n/);
  expect(withoutModel).toMatch(/CosiftError not_installed: .*the built-in model could not be loaded/);
  expect(withoutModel).toContain('npm install @cosift/model-minilm @cosift/onnxruntime\n');
  expect(withoutModel).toContain('--omit=peer');

  rmSync(path.join(directory, 'data'), { recursive: true });
  const model = path.join(directory, 'node_modules/@cosift/model-minilm');
  symlinkSync(path.join(root, 'models/all-MiniLM-L6-v2'), model);
  const withoutRuntime = await run(directory, EMBED);
  expect(withoutRuntime).toMatch(/^7 1\n/);
  expect(withoutRuntime).toMatch(/CosiftError not_installed: .*onnxruntime, .* could not be loaded/);
  expect(withoutRuntime).toContain('npm install @cosift/onnxruntime ');

  rmSync(path.join(directory, 'data'), { recursive: true });
  // Without the package for the platform and without onnxruntime-node.
  cpSync(path.join(root, 'packages/onnxruntime'), path.join(directory, 'node_modules/@cosift/onnxruntime'), {
    recursive: true,
  });
  const withoutPlatform = await run(directory, EMBED);
  const name = `@cosift/onnxruntime-${process.platform}-${process.arch}`;
  expect(withoutPlatform).toMatch(/^7 1\n/);
  expect(withoutPlatform).toContain(`- ${name}: Cannot find module '${name}'`);
  expect(withoutPlatform).toContain(`- onnxruntime-node: Cannot find module 'onnxruntime-node'`);
  expect(withoutPlatform).toContain('--omit=optional');
});

const MULTILINGUAL = `
  import { open } from 'cosift';
  const cosift = await open('data');
  const facts = await cosift.createDatabase('facts', { model: 'multilingual-e5-small' })${PRINT_FAILURE}
  await facts?.upsert([{ id: 7, data: { name: 'Lake Baikal' } }]);
  console.log((await facts?.describe())?.model, (await facts?.search('a lake'))?.results[0].id);
  await cosift.createDatabase('others', { model: 'other' })${PRINT_FAILURE}
  await cosift.close();
`;

test('the multilingual model, which is found by its name once its package is installed', async () => {
  const directory = project();
  installEngine(directory, readFileSync(path.join(NATIVE, ENGINE)));
  const modules = path.join(directory, 'node_modules');
  symlinkSync(path.join(root, 'models/all-MiniLM-L6-v2'), path.join(modules, '@cosift/model-minilm'));
  symlinkSync(path.join(root, 'packages/onnxruntime'), path.join(modules, '@cosift/onnxruntime'));
  const without = await run(directory, MULTILINGUAL);
  expect(without).toMatch(/CosiftError not_installed: .*the model multilingual-e5-small could not be loaded/);
  expect(without).toContain('npm install @cosift/model-multilingual-e5\n');
  expect(without).toMatch(/there is no model "other"; this service has "all-MiniLM-L6-v2"\n/);

  rmSync(path.join(directory, 'data'), { recursive: true });
  // Its own weights are not in the repository.
  symlinkSync(
    path.join(root, 'models/all-MiniLM-L6-v2'),
    path.join(modules, '@cosift/model-multilingual-e5'),
  );
  const installed = await run(directory, MULTILINGUAL);
  expect(installed).toMatch(/^multilingual-e5-small 7\n/);
  expect(installed).toContain('this service has "all-MiniLM-L6-v2", "multilingual-e5-small"\n');

  const cli = path.join(modules, 'cosift/dist/cli/main.js');
  const verify = ['model', 'verify', 'multilingual-e5-small', '--data', 'data'];
  const { stdout } = await promisify(execFile)(process.execPath, [cli, ...verify], { cwd: directory });
  expect(stdout).toMatch(/^ok +multilingual-e5-small /);
});

test('the platforms in the messages are those that are published', () => {
  const directory = path.join(ONNXRUNTIME_NODE, 'bin/napi-v6');
  const systems = readdirSync(directory);
  const published = systems.flatMap((system) =>
    readdirSync(path.join(directory, system)).map((processor) => `${system}-${processor}`),
  );
  expect([...RUNTIMES].sort()).toEqual(published.sort());
  expect(ENGINES).toContain(PLATFORM);
  expect(ENGINES).toHaveLength(manifest.napi.targets.length);
});
