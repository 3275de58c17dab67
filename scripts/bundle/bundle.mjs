import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/**
 * Bundles a file of `src` into one file, with the packages that it imports and their licences.
 *
 * @param {string} entry
 * @param {string} outfile
 * @param {import('esbuild').BuildOptions} options
 */
export async function bundle(entry, outfile, options) {
  const shared = {
    absWorkingDir: root,
    entryPoints: [entry],
    outfile,
    bundle: true,
    target: ['es2022'],
    charset: 'utf8',
    logLevel: 'warning',
    ...options,
  };
  // The names of the bundled packages are known only after a first run.
  const { metafile } = await build({ ...shared, write: false, metafile: true });
  const footer = { js: noticesOf(Object.keys(metafile.inputs)) };
  await build({ ...shared, footer });
}

/** The names and licences of the packages that `files` belong to, as comments. */
function noticesOf(files) {
  const packages = files.map((file) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]);
  return [...new Set(packages)]
    .filter((path) => path !== undefined)
    .map(noticeOf)
    .join('\n');
}

function noticeOf(path) {
  const { name, version } = JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'));
  const file = ['LICENSE', 'LICENSE.md', 'LICENSE.txt']
    .map((file) => join(root, path, file))
    .find(existsSync);
  if (file === undefined) throw new Error(`${path} has no licence file`);
  const licence = readFileSync(file, 'utf8').trim();
  return `/*!\nIncludes parts of ${name} ${version}:\n\n${licence}\n*/`;
}
