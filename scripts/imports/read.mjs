import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

const FOLDERS = ['src', 'bench', 'scripts', 'test'];
const IGNORED = /(?:^|\/)(?:node_modules|cache|record|golden)\//;
/** What names a file in an import, as Biome formats it. Other quotes before it would make it a part of a text. */
const IMPORT = /(?<=^[^"`]*\b(?:from |import |import\(|require\())'(\.[^']+)'/g;

/**
 * @typedef {object} Import
 * @property {string} from path of the importing file, relative to the root
 * @property {string} to path of the imported file, relative to the root
 * @property {number} line line of the import, from 1
 */

/**
 * All imports of project files, including imports of types, in the files of `src`, `bench`, `scripts` and
 * `test` below `root`.
 *
 * @param {string} root
 * @returns {{ files: string[], imports: Import[] }}
 */
export function readImports(root) {
  const files = FOLDERS.filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true }).map((name) =>
        posix.join(folder, name.replaceAll('\\', '/')),
      ),
    )
    .filter((file) => /\.[cm]?[jt]s$/.test(file) && !IGNORED.test(file))
    .sort();
  const imports = files.flatMap((from) =>
    readFileSync(join(root, from), 'utf8')
      .split('\n')
      .flatMap((text, at) =>
        [...text.matchAll(IMPORT)].map(([, specifier]) => ({
          from,
          to: resolve(root, from, specifier),
          line: at + 1,
        })),
      ),
  );
  return { files, imports };
}

/** A specifier names the compiled file: `./a.js` imports `a.ts`, unless `a.js` exists. */
function resolve(root, from, specifier) {
  const path = posix.join(posix.dirname(from), specifier);
  return [path, path.replace(/js$/, 'ts')].find((file) => existsSync(join(root, file))) ?? path;
}
