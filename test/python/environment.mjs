// Environments with the Python packages of the checkout, for the oldest and the newest Python of this machine that they
// run on: node test/python/environment.mjs
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const OLDEST = 10;
const NEWEST = 14;
const PACKAGES = ['packages/python', 'packages/python-langchain'];
const REQUIREMENTS = 'test/python/requirements.txt';
/** What an environment is made of. */
const contents = [REQUIREMENTS, ...PACKAGES.map((name) => `${name}/pyproject.toml`)]
  .map((name) => readFileSync(path.join(root, name), 'utf8'))
  .join('\n');

/** The oldest and the newest Python in the PATH that the packages run on, as `{ version, command }`. */
function interpreters() {
  const names = ['python3'];
  for (let minor = OLDEST; minor <= NEWEST; minor++) names.push(`python3.${minor}`);
  const found = new Map();
  for (const command of names) {
    const program = 'import sys; print(*sys.version_info[:2], sep=".")';
    const { status, stdout } = spawnSync(command, ['-c', program], { encoding: 'utf8' });
    const minor = Number(/^3\.(\d+)$/.exec(stdout?.trim() ?? '')?.[1]);
    if (status === 0 && minor >= OLDEST && minor <= NEWEST) found.set(minor, command);
  }
  const minors = [...found.keys()].sort((a, b) => a - b);
  return [...new Set([minors[0], minors.at(-1)])]
    .filter((minor) => minor !== undefined)
    .map((minor) => ({ version: `3.${minor}`, command: found.get(minor) }));
}

const environmentOf = ({ version }) => path.join(root, 'target', `python-${version}`);
const pythonOf = (environment) => path.join(environment, 'bin', 'python');
const stampOf = (environment) => path.join(environment, 'installed.txt');
const isReady = (environment) =>
  existsSync(stampOf(environment)) && readFileSync(stampOf(environment), 'utf8') === contents;

/** The Python of the newest environment that is there; undefined if there is none. */
export function installedPython() {
  const environment = interpreters().map(environmentOf).filter(isReady).at(-1);
  return environment && pythonOf(environment);
}

/** Makes the environments that are missing. Returns the Python of each, the oldest first; none where that cannot be. */
export function install() {
  return interpreters().flatMap((interpreter) => {
    const environment = environmentOf(interpreter);
    const run = (command, ...options) =>
      spawnSync(command, options, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
    const pip = (...options) =>
      run(
        pythonOf(environment),
        '-m',
        'pip',
        'install',
        '--quiet',
        '--disable-pip-version-check',
        ...options,
      );
    if (!isReady(environment)) {
      const editable = PACKAGES.flatMap((name) => ['--editable', name]);
      const made =
        run(interpreter.command, '-m', 'venv', environment) &&
        pip('--requirement', REQUIREMENTS) &&
        pip('--no-build-isolation', ...editable);
      if (!made) return [];
      writeFileSync(stampOf(environment), contents);
    }
    return [pythonOf(environment)];
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = install().length > 0 ? 0 : 1;
