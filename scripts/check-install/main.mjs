// npm run check:install: packs a fresh clone of HEAD, installs the tarballs in empty projects, and uses them there.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../setup.mjs';
import { check, finish } from './checks.mjs';
import { run } from './commands.mjs';
import { fetchNodes } from './nodes.mjs';
import { checkPnpm } from './pnpm.mjs';
import { Project } from './project.mjs';
import { serveRegistry } from './registry.mjs';
import { checkTarballs, unpack } from './tarballs.mjs';
import { checkTypes } from './types.mjs';
import { checkInstalled, checkUsage } from './usage.mjs';

const directory = mkdtempSync(join(tmpdir(), 'cosift-install-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
const npm =
  process.env.npm_execpath ??
  join(execFileSync('npm', ['root', '--global'], { encoding: 'utf8' }).trim(), 'npm/bin/npm-cli.js');

const clone = join(directory, 'clone');
const packed = join(directory, 'packed');
console.log('packing a fresh clone of HEAD');
await run('git', ['clone', '--quiet', '--depth=1', `file://${root}`, clone]);
// The build in the clone keeps the engine only if its stamp says that it was built from the same sources.
for (const name of readdirSync(join(root, 'native'))) {
  if (/\.(node|stamp)$/.test(name)) cpSync(join(root, 'native', name), join(clone, 'native', name));
}
console.log(
  await run(process.execPath, [npm, 'run', '--silent', 'pack', '--', '--output', packed], { cwd: clone }),
);
const tarballs = unpack(packed, join(directory, 'unpacked'));
await checkTarballs(tarballs);

const files = tarballs.map(({ file }) => file);
const runWithNpm = (args, options) => run(process.execPath, [npm, ...args], options);
const nodes = await fetchNodes(directory, runWithNpm);
for (const { version, binary } of nodes) {
  const name = `Node ${version}`;
  const project = new Project(join(directory, version), { npm, node: binary });
  await check(`${name}: npm install of the tarballs`, () =>
    project.npm('install', ...files).then(() => undefined),
  );
  await checkInstalled(name, project);
  await checkUsage(name, project);
  if (binary === process.execPath) await checkTypes(project);
}

const upstream = (await runWithNpm(['config', 'get', 'registry'], { cwd: directory })).trim();
const registry = await serveRegistry(tarballs, upstream);
const projectOf = (name) => {
  const project = new Project(join(directory, name), { npm, node: process.execPath });
  project.write('.npmrc', `registry=${registry.url}\n`);
  return project;
};
const byName = projectOf('by-name');
await check('by name: npm install cosift', () => byName.npm('install', 'cosift').then(() => undefined));
await checkInstalled('by name', byName);
await checkUsage('by name', byName);

const withoutPeers = projectOf('without-peers');
await check('without the model: npm install cosift --omit=peer', async () => {
  await withoutPeers.npm('install', 'cosift', '--omit=peer');
  assert.deepEqual(readdirSync(join(withoutPeers.directory, 'node_modules/@cosift')).length, 1);
  return `${(withoutPeers.size() / 1e6).toFixed(1)} MB`;
});
await check('without the model: vectors of your own work, and texts say what to install', async () => {
  const output = await withoutPeers.node('own-vectors.mjs');
  assert.match(output, /^north\nnot_installed: .*built-in model/);
  assert.match(output, /npm install @cosift\/model-minilm\n/);
});
await checkPnpm(projectOf('pnpm'), runWithNpm);
await registry.close();
finish();
