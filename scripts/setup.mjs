// Makes the checkout runnable: installs the packages, builds the native engine in release mode,
// compiles the TypeScript. A step runs only if its sources have changed.
//
//   node scripts/setup.mjs            every step whose sources have changed
//   node scripts/setup.mjs --build    the same without installing packages
//
// Only Node's own modules are used: this file runs before anything is installed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const at = (...parts) => join(root, ...parts);

const NODE = [20, 17];
const RUST = [1, 89];

/** Ends the process with one readable message. */
export function fail(message) {
  console.error(`\ncosift: ${message}`);
  process.exit(1);
}

/** Runs a command in the checkout and shows its output. Returns whether it succeeded. */
export function succeeds(title, command, args) {
  const result = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  if (result.error) fail(`${title} could not start: ${result.error.message}`);
  if (result.signal) process.kill(process.pid, result.signal);
  return result.status === 0;
}

/** Runs a command like {@link succeeds}, and ends the process if the command fails. */
function run(title, command, args) {
  if (!succeeds(title, command, args)) fail(`${title} failed; the reason is printed above.`);
}

function atLeast(version, wanted) {
  const [major, minor] = version.replace(/^v/, '').split('.').map(Number);
  return major > wanted[0] || (major === wanted[0] && minor >= wanted[1]);
}

function output(command, args) {
  const result = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  return result.status === 0 ? result.stdout.trim() : undefined;
}

export function checkNode() {
  if (atLeast(process.version, NODE)) return;
  fail(
    `Node ${NODE.join('.')} or later is needed, this is ${process.version}. Get it from https://nodejs.org`,
  );
}

export function checkRust() {
  const version = output('rustc', ['--version'])?.split(' ')[1];
  if (version === undefined || output('cargo', ['--version']) === undefined) {
    fail(
      `Rust is needed to build the engine, and cargo was not found. Install it with\n\n` +
        `    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh\n\n` +
        `open a new shell, and run this again.`,
    );
  }
  if (!atLeast(version, RUST)) {
    fail(`Rust ${RUST.join('.')} or later is needed, this is ${version}. Get it with: rustup update stable`);
  }
  if (process.platform === 'linux' && output('cc', ['--version']) === undefined) {
    fail('A C compiler is needed to build the engine. On Debian and Ubuntu: apt-get install build-essential');
  }
}

/** Files below `path` that `keep` accepts, in a fixed order. */
function files(path, keep) {
  if (!existsSync(at(path))) return [];
  const found = [];
  for (const entry of readdirSync(at(path), { withFileTypes: true })) {
    const name = `${path}/${entry.name}`;
    if (entry.isDirectory()) found.push(...files(name, keep));
    else if (keep(name)) found.push(name);
  }
  return found.sort();
}

function hashOf(names) {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}\0`);
  for (const name of names) {
    if (!existsSync(at(name))) continue;
    hash
      .update(`${name}\0`)
      .update(readFileSync(at(name)))
      .update('\0');
  }
  return hash.digest('hex');
}

/** npm writes what it installed to node_modules/.package-lock.json: compared with the lockfile. */
function packagesAreDue() {
  const installed = at('node_modules', '.package-lock.json');
  if (!existsSync(installed)) return true;
  const wanted = JSON.parse(readFileSync(at('package-lock.json'), 'utf8')).packages;
  const have = JSON.parse(readFileSync(installed, 'utf8')).packages;
  return Object.entries(wanted).some(
    ([name, { version, optional }]) => name !== '' && !optional && have[name]?.version !== version,
  );
}

function isDone({ sources, product, stamp }) {
  const last = existsSync(at(stamp)) ? readFileSync(at(stamp), 'utf8') : '';
  return product() && last === hashOf(sources());
}

/** A build step. It is due if its product is missing or its sources differ from those of the last run. */
function step({ title, takes, sources, product, stamp, make }) {
  if (isDone({ sources, product, stamp })) return;
  console.log(`cosift: ${title} (${takes})`);
  rmSync(at(stamp), { force: true });
  make();
  // Hashed again, because the build may have written some of its sources, such as Cargo.lock.
  writeFileSync(at(stamp), hashOf(sources()));
}

const bin = (name) => at('node_modules', '.bin', name);

/** The hash of the sources of the engine. Not hidden, so that a copy of `native/*` has it. */
const NATIVE_STAMP = 'native/sources.sha256';

/** Builds the engine if its sources have changed. */
export function buildNative() {
  step({
    title: 'building the native engine',
    takes: 'the first time takes 2 to 4 minutes',
    stamp: NATIVE_STAMP,
    sources: () => [
      'Cargo.toml',
      'Cargo.lock',
      ...files(
        'crates',
        (name) => !/\/(tests|benches|examples|target)\//.test(name) && /\.(rs|toml)$/.test(name),
      ),
    ],
    product: () => readdirSync(at('native')).some((name) => name.endsWith('.node')),
    make: () => {
      checkRust();
      run('The native build', 'npm', ['run', '--silent', 'build:native']);
    },
  });
}

const TYPESCRIPT = {
  title: 'compiling the TypeScript',
  takes: 'a few seconds',
  stamp: 'dist/.stamp',
  sources: () => [
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'tsconfig.build.json',
    'native/index.d.cts',
    ...files('src', () => true),
    ...files('scripts/bundle', () => true),
  ],
  product: () =>
    existsSync(at('dist', 'cli', 'main.js')) && existsSync(at('packages', 'client', 'dist', 'index.js')),
  make: () => {
    // A file that was removed from src must not remain in dist.
    rmSync(at('dist'), { recursive: true, force: true });
    run('The TypeScript build', process.execPath, [
      at('node_modules', 'typescript', 'bin', 'tsc'),
      '-p',
      'tsconfig.build.json',
    ]);
    run('The bundling', process.execPath, [at('scripts', 'bundle', 'main.mjs')]);
  },
};

/** Compiles `src` to `dist` if `src` has changed. */
export function buildTypeScript() {
  step(TYPESCRIPT);
}

/** Whether `dist` was compiled from the current `src`. */
export function typeScriptIsBuilt() {
  return isDone(TYPESCRIPT);
}

/**
 * Brings the checkout up to date. `install: false` leaves the packages as they are, and `native: false` the engine.
 */
export function setup({ install = true, native = true } = {}) {
  checkNode();
  if (install && packagesAreDue()) {
    if (native && !existsSync(at(NATIVE_STAMP))) checkRust();
    console.log('cosift: installing packages (about a minute)');
    run('npm ci', 'npm', ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']);
  }
  if (!existsSync(bin('napi'))) fail('the packages are not installed. Run: npm ci');
  if (native) buildNative();
  buildTypeScript();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  setup({ install: !process.argv.includes('--build') });
  console.log('cosift: ready');
}
