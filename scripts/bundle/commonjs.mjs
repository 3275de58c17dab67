import { rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, posix, relative } from 'node:path';
import { bundle, root } from './bundle.mjs';

const ERRORS = join(root, 'src', 'errors.ts');

/** Bundles for `require`. Each has the declarations that `tsc` makes of its `.cts` file. */
const ENTRIES = ['index', 'client/index', 'ai/index'];

/**
 * Writes the CommonJS files of `dist`. Node 20 cannot load an ES module by `require`, so a CommonJS file contains all that
 * it needs, except two parts:
 *
 * - `CosiftError` is one class, whichever way it is loaded: both kinds of modules take it from `errors.cjs`.
 * - The library itself is an ES module, and `open` imports it.
 */
export async function buildCommonJs() {
  await bundle('src/errors.ts', 'dist/errors.cjs', { format: 'cjs', platform: 'node' });
  const names = Object.keys(createRequire(import.meta.url)(join(root, 'dist', 'errors.cjs')));
  writeFileSync(join(root, 'dist', 'errors.js'), `export { ${names.join(', ')} } from './errors.cjs';\n`);
  rmSync(join(root, 'dist', 'errors.js.map'), { force: true });
  for (const entry of ENTRIES) {
    const outfile = `dist/${entry}.cjs`;
    const plugins = [outside(outfile)];
    await bundle(`src/${entry}.cts`, outfile, {
      format: 'cjs',
      platform: 'node',
      conditions: ['default'],
      plugins,
    });
    rmSync(join(root, `${outfile}.map`), { force: true });
  }
}

/** Leaves the errors and the library out of a bundle. */
function outside(outfile) {
  const fromBundle = (path) => {
    const place = posix.normalize(relative(dirname(join(root, outfile)), path).replaceAll('\\', '/'));
    return place.startsWith('.') ? place : `./${place}`;
  };
  return {
    name: 'outside',
    setup({ onResolve }) {
      onResolve({ filter: /^\.{1,2}\// }, ({ path, resolveDir, kind }) => {
        if (kind === 'dynamic-import') return { path, external: true };
        if (join(resolveDir, path.replace(/\.js$/, '.ts')) !== ERRORS) return undefined;
        return { path: fromBundle(join(root, 'dist', 'errors.cjs')), external: true };
      });
    },
  };
}
