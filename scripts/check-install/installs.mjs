// The ways in which users install cosift.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { check, skip } from './checks.mjs';
import { fetchNodes } from './nodes.mjs';
import { Project } from './project.mjs';
import { serveRegistry } from './registry.mjs';
import { checkTypes, checkTypesOfClient } from './types.mjs';
import { checkClientAlone, checkInstalled, checkUsage } from './usage.mjs';

const MULTILINGUAL = '@cosift/model-multilingual-e5';

/** From the tarballs, on each version of Node. */
export async function installTarballs({ directory, tarballs, npmFile, npm }) {
  // cosift does not need LangChain, nor the large model.
  const own = tarballs.filter(({ manifest }) => !['@cosift/langchain', MULTILINGUAL].includes(manifest.name));
  const files = own.filter(({ manifest }) => fitsThisMachine(manifest)).map(({ file }) => file);
  const nodes = await fetchNodes(directory, npm);
  const installed = nodes.map(async ({ version, binary }) => {
    const name = `Node ${version}`;
    const project = new Project(join(directory, version), { npmFile, nodeFile: binary });
    // npm only warns of a dependency that needs a later version of Node, but Yarn 1 refuses it.
    await check(`${name}: npm install of the tarballs`, () =>
      project.npm('install', '--engine-strict', ...files),
    );
    await checkInstalled(name, project);
    await checkUsage(name, project);
    // Types do not depend on the version that runs the compiler.
    if (version === nodes[0].version) await checkTypes(project);
  });
  await Promise.all(installed);
}

/** By name, from a registry that has the packages. */
export async function installByName({ directory, tarballs, npmFile, npm }) {
  const upstream = (await npm(['config', 'get', 'registry'], { cwd: directory })).trim();
  const registry = await serveRegistry(tarballs, upstream);
  const projectOf = (name) => {
    const project = new Project(join(directory, name), { npmFile, nodeFile: process.execPath });
    project.write('.npmrc', `registry=${registry.url}\n`);
    return project;
  };
  await Promise.all([
    checkByName(projectOf('by-name'), projectOf('client')),
    checkWithoutModel(projectOf('without-model')),
    checkLangchain(projectOf('langchain')),
    checkMultilingual(projectOf('multilingual'), tarballs),
    checkPnpm(projectOf('pnpm'), join(directory, 'pnpm-tool'), npm),
    checkYarn(projectOf('yarn'), { url: registry.url, tools: join(directory, 'yarn-tool'), npm }),
  ]);
  await registry.close();
}

async function checkByName(project, client) {
  await check('by name: npm install cosift', () => project.npm('install', 'cosift'));
  await checkInstalled('by name', project);
  await checkUsage('by name', project);
  await checkClientAlone(client, project);
  await checkTypesOfClient(client);
}

async function checkWithoutModel(project) {
  await check('without the model: npm install cosift --omit=peer', async () => {
    await project.npm('install', 'cosift', '--omit=peer');
    assert.equal(readdirSync(join(project.directory, 'node_modules/@cosift')).length, 1);
    return `${(project.size() / 1e6).toFixed(1)} MB`;
  });
  await check('without the model: vectors of your own work, and texts say what to install', async () => {
    const output = await project.node('own-vectors.mjs');
    assert.match(output, /^north\nnot_installed: .*built-in model/);
    assert.match(output, /npm install @cosift\/model-minilm @cosift\/onnxruntime\n/);
  });
}

async function checkLangchain(project) {
  await check('by name: npm install cosift @cosift/langchain @langchain/core', () =>
    project.npm('install', 'cosift', '@cosift/langchain', '@langchain/core'),
  );
  await check('LangChain: import and require', async () => {
    for (const program of ['langchain.mjs', 'langchain.cjs']) {
      assert.equal(await project.node(program), 'Lake Baikal\n', program);
    }
  });
}

async function checkMultilingual(project, tarballs) {
  const title = `by name: npm install cosift ${MULTILINGUAL}`;
  if (!tarballs.some(({ manifest }) => manifest.name === MULTILINGUAL)) {
    skip(title, 'its weights could not be made');
    return;
  }
  await check(title, () => project.npm('install', 'cosift', MULTILINGUAL));
  await check('multilingual: a search in German and in Chinese', async () => {
    assert.equal(await project.node('multilingual.mjs'), '2\n1\n4\n3\n');
  });
  await check('multilingual: the command line', async () => {
    const target = ['--data', 'multilingual'];
    assert.match(await project.npx('cosift', 'model', 'verify', ...target), /^ok +multilingual-e5-small /m);
    const model = ['--model', 'multilingual-e5-small'];
    await project.npx('cosift', 'databases', 'create', 'texte', ...model, ...target);
    project.write('texte.csv', 'id,text\n1,Der Kuchen steht im Ofen\n2,Das Auto braucht Benzin\n');
    await project.npx('cosift', 'import', 'texte.csv', '--database', 'texte', ...target);
    const args = ['search', 'etwas zu essen', '--database', 'texte', ...target, '--json'];
    assert.equal(JSON.parse(await project.npx('cosift', ...args)).results[0].id, 1);
  });
}

/** pnpm runs no install scripts, and lets a package import only what its manifest names. */
async function checkPnpm(project, tools, npm) {
  await check('pnpm 10: pnpm add cosift', async () => {
    await npm(['install', '--prefix', tools, 'pnpm@10']);
    const pnpm = join(tools, 'node_modules/pnpm/bin/pnpm.cjs');
    await project.node(pnpm, 'add', 'cosift', '--store-dir', join(tools, 'store'));
  });
  await checkUsage('pnpm 10', project);
}

/** Yarn with Plug'n'Play keeps packages in zip files, out of which native code cannot read. */
async function checkYarn(project, { url, tools, npm }) {
  const yarn = (...args) => project.node(join(tools, 'node_modules/@yarnpkg/cli-dist/bin/yarn.js'), ...args);
  await check("Yarn 4 with Plug'n'Play: yarn add cosift", async () => {
    await npm(['install', '--prefix', tools, '@yarnpkg/cli-dist@4']);
    const settings = { npmRegistryServer: url, unsafeHttpWhitelist: ['127.0.0.1'], npmMinimalAgeGate: 0 };
    const own = { globalFolder: join(tools, 'global'), enableTelemetry: false, nodeLinker: 'pnp' };
    project.write('.yarnrc.yml', JSON.stringify({ ...settings, ...own }));
    // Without it, Yarn looks for a project in the directories above.
    project.write('yarn.lock', '');
    await yarn('add', 'cosift', '@cosift/model-minilm', '@cosift/onnxruntime');
  });
  await check("Yarn 4 with Plug'n'Play: import, require and the command line", async () => {
    assert.equal(await yarn('node', 'first-search.mjs'), 'Eiffel Tower\n');
    assert.equal(await yarn('node', 'require.cjs'), 'Lake Baikal\n');
    assert.match(await yarn('cosift', '--help'), /Usage: cosift/);
    // The demo records are read in ways that Yarn does not offer for files in a zip file.
    const file = await yarn('node', '-p', "require.resolve('cosift/package.json')");
    assert.doesNotMatch(file, /\.zip/);
  });
}

/** Tarballs for other platforms cannot be installed. */
function fitsThisMachine({ os, cpu, libc }) {
  const { glibcVersionRuntime } = process.report.getReport().header;
  const ours = glibcVersionRuntime === undefined ? 'musl' : 'glibc';
  const fits = (allowed, value) => allowed === undefined || allowed.includes(value);
  return fits(os, process.platform) && fits(cpu, process.arch) && fits(libc, ours);
}
