import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { bundle, root } from './bundle.mjs';

const OUTPUT = 'packages/client/dist';
const DIST = join(root, 'dist');

/**
 * Writes what `@cosift/client` publishes: the client of `src/client` in one file for `import` and in one for `require`,
 * without any import, and the declarations of `dist` that it needs.
 */
export async function buildClientPackage() {
  rmSync(join(root, OUTPUT), { recursive: true, force: true });
  await bundle('src/client/index.ts', `${OUTPUT}/index.js`, { format: 'esm', platform: 'neutral' });
  await bundle('src/client/index.cts', `${OUTPUT}/index.cjs`, { format: 'cjs', platform: 'neutral' });
  const types = join(root, OUTPUT, 'types');
  for (const file of declarationsFrom(join(DIST, 'client', 'index.d.cts'))) {
    const copy = join(types, relative(DIST, file));
    mkdirSync(dirname(copy), { recursive: true });
    cpSync(file, copy);
  }
  // `AsyncDisposable` is in no library of a project for browsers that has an older target.
  const index = join(types, 'client', 'index.d.ts');
  writeFileSync(index, `/// <reference lib="esnext.disposable" />\n${readFileSync(index, 'utf8')}`);
}

/** A declaration file and all that it imports, directly or through others. */
function declarationsFrom(file, found = new Set()) {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, specifier, kind] of readFileSync(file, 'utf8').matchAll(
    /['"](\.{1,2}\/[^'"]+)\.(c?js)['"]/g,
  )) {
    declarationsFrom(join(dirname(file), `${specifier}.d.${kind.replace('js', 'ts')}`), found);
  }
  return found;
}
