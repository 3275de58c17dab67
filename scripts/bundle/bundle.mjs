import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { noticesOf } from './notices.mjs';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** What all bundles have in common. */
export const SHARED = {
  absWorkingDir: root,
  bundle: true,
  target: ['es2022'],
  charset: 'utf8',
  logLevel: 'warning',
};

/**
 * Bundles a file of `src` into one file, with the packages that it imports and their licences.
 *
 * @param {string} entry
 * @param {string} outfile
 * @param {import('esbuild').BuildOptions} options
 */
export async function bundle(entry, outfile, options) {
  const shared = { ...SHARED, entryPoints: [entry], outfile, ...options };
  // The names of the bundled packages are known only after a first run.
  const { metafile } = await build({ ...shared, write: false, metafile: true });
  const notices = noticesOf(root, Object.keys(metafile.inputs));
  const footer = { js: notices.map((notice) => `/*!\n${notice}*/`).join('\n') };
  await build({ ...shared, footer });
}

const ERRORS = join(root, 'src', 'errors.ts');

/** Takes the errors from `dist/errors.cjs`, which `package.json` names `#errors`, wherever the importing file is. */
export const errorsOutside = {
  name: 'errors outside',
  setup({ onResolve }) {
    onResolve({ filter: /\/errors\.js$/ }, ({ path, resolveDir }) =>
      join(resolveDir, path.replace(/\.js$/, '.ts')) === ERRORS
        ? { path: '#errors', external: true }
        : undefined,
    );
  },
};
