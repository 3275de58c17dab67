// The commands that samples may run: those of cosift as users have them, and harmless ones. Samples find no others, so that
// none installs, sends or removes anything outside its directory.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PSQL } from '../../scripts/postgres/server.js';
import { installedPython } from '../python/environment.mjs';

export const root = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '');

const NPM = `case "$1" in
  init) echo '{ "name": "sample", "version": "1.0.0" }' > package.json ;;
  install)
    shift
    for package; do
      case "$package" in -*) continue ;; esac
      name=$(sed -E 's/(.)@[^/]*$/\\1/' <<< "$package")
      target=${root}/node_modules/$name
      if [ "$name" = cosift ]; then target=${root}; fi
      if [ ! -e "$target" ]; then echo "the checkout has no package $name" >&2; exit 1; fi
      mkdir -p "$(dirname "node_modules/$name")" node_modules/.bin
      if [ ! -e "node_modules/$name" ]; then ln -sfn "$target" "node_modules/$name"; fi
      command=${root}/node_modules/.bin/$name
      if [ "$name" = cosift ]; then command=$(dirname "$0")/cosift; fi
      if [ -e "$command" ]; then ln -sfn "$command" "node_modules/.bin/$name"; fi
    done ;;
  *) echo "npm $1 is not run for samples" >&2; exit 1 ;;
esac`;

const NPX = `directory=$PWD
while [ ! -e "$directory/node_modules/.bin/$1" ]; do
  if [ "$directory" = / ]; then echo "npx: $1 is not installed" >&2; exit 1; fi
  directory=$(dirname "$directory")
done
command=$directory/node_modules/.bin/$1
shift
exec "$command" "$@"`;

/** As the program of this name, for the server of the page. */
const MYSQL = `exec node --input-type=module -e "
import mysql from '${root}/node_modules/mysql2/promise.js';
import { text } from 'node:stream/consumers';
const uri = 'mysql://cosift@' + process.env.MYSQL_HOST + '/' + process.argv[1];
const client = await mysql.createConnection({ uri, multipleStatements: true });
await client.query(await text(process.stdin));
await client.end();
" "$@"`;

/** The packages of the checkout are installed already, if they can be. */
const PIP = `case "$*" in
  "install cosift" | "install langchain-cosift") ;;
  *) echo "pip $* is not run for samples" >&2; exit 1 ;;
esac`;

/** The Python that has the packages of the checkout; undefined if they are not installed. */
export const PYTHON_WITH_PACKAGES = installedPython();
const PYTHON = PYTHON_WITH_PACKAGES ?? (pathOf('python3') && executableOf('python3'));

const HARMLESS =
  'awk base64 basename bash cat cp cut date dirname du env false grep gzip head ln ls mkdir mv openssl readlink rm sed ' +
  'seq sleep sort sqlite3 tail tar tee touch tr true uniq wc xargs';

/** Writes the commands into a directory, for the PATH of samples. */
export function writeCommands(directory: string): void {
  mkdirSync(directory, { recursive: true });
  symlinkSync(process.execPath, join(directory, 'node'));
  for (const name of HARMLESS.split(' ')) {
    const path = pathOf(name);
    if (path !== undefined) symlinkSync(path, join(directory, name));
  }
  const commands: Record<string, string> = {
    ...(PYTHON && { python3: `exec ${PYTHON} "$@"` }),
    ...(PSQL && { psql: `exec ${PSQL} "$@"` }),
    mysql: MYSQL,
    pip: PIP,
    cosift: `exec node ${root}/dist/cli/main.js "$@"`,
    npm: NPM,
    npx: NPX,
    // A response with an error status must fail the sample.
    curl: `exec ${pathOf('curl')} --fail-with-body "$@"`,
  };
  for (const [name, text] of Object.entries(commands)) {
    writeFileSync(join(directory, name), `#!/usr/bin/env bash\nset -euo pipefail\n${text}\n`);
    chmodSync(join(directory, name), 0o755);
  }
}

/** Returns the path of a command of this machine, or undefined. */
export function pathOf(command: string): string | undefined {
  const directories = (process.env.PATH ?? '').split(delimiter);
  return directories.map((directory) => join(directory, command)).find((path) => existsSync(path));
}

/** Returns the program behind a Python in the PATH, which may be a script that needs other commands. */
function executableOf(python: string): string {
  return execFileSync(python, ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim();
}

/** Installs cosift, and the packages of its own scope, in a directory. */
export function install(directory: string, commands: string): void {
  const modules = join(directory, 'node_modules');
  mkdirSync(join(modules, '.bin'), { recursive: true });
  symlinkSync(root, join(modules, 'cosift'));
  symlinkSync(join(commands, 'cosift'), join(modules, '.bin', 'cosift'));
  const scope = join(root, 'node_modules', '@cosift');
  if (existsSync(scope)) symlinkSync(scope, join(modules, '@cosift'));
}
