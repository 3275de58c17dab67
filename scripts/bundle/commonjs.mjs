import { bundle, errorsOutside } from './bundle.mjs';

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
  const shared = { format: 'cjs', platform: 'node' };
  await bundle('src/errors.ts', 'dist/errors.cjs', shared);
  for (const entry of ENTRIES) {
    await bundle(`src/${entry}.cts`, `dist/${entry}.cjs`, {
      ...shared,
      conditions: ['default'],
      plugins: [errorsOutside, libraryOutside],
    });
  }
}

const libraryOutside = {
  name: 'library outside',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/index\.js$/ }, ({ path, kind }) =>
      kind === 'dynamic-import' ? { path, external: true } : undefined,
    );
  },
};
