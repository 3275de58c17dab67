import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { bundle, root } from './bundle.mjs';

const DIST = join(root, 'dist');

/**
 * Writes what a package of its own publishes: a folder of `src` in one file for `import` and in one for `require`, without any
 * import but that of its peers, and the declarations of `dist` that it needs.
 *
 * @param {string} name of the folder in `src` and in `packages`
 * @param {string[]} external
 */
export async function buildPackage(name, external = []) {
  const output = `packages/${name}/dist`;
  rmSync(join(root, output), { recursive: true, force: true });
  const shared = { platform: 'neutral', external };
  await bundle(`src/${name}/index.ts`, `${output}/index.js`, { ...shared, format: 'esm' });
  await bundle(`src/${name}/index.cts`, `${output}/index.cjs`, { ...shared, format: 'cjs' });
  const types = join(root, output, 'types');
  for (const file of declarationsFrom(join(DIST, name, 'index.d.cts'))) {
    const copy = join(types, relative(DIST, file));
    mkdirSync(dirname(copy), { recursive: true });
    cpSync(file, copy);
  }
  // `AsyncDisposable` is in no library of a project for browsers that has an older target.
  const index = join(types, name, 'index.d.ts');
  writeFileSync(index, `/// <reference lib="esnext.disposable" />\n${readFileSync(index, 'utf8')}`);
}

/** A declaration file and all that it imports, directly or through others. */
export function declarationsFrom(file, found = new Set()) {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, specifier, kind] of readFileSync(file, 'utf8').matchAll(
    /['"](\.{1,2}\/[^'"]+)\.(c?js)['"]/g,
  )) {
    declarationsFrom(join(dirname(file), `${specifier}.d.${kind.replace('js', 'ts')}`), found);
  }
  return found;
}
