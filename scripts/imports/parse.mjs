import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { parse } from '@babel/parser';

const FOLDERS = ['src', 'bench', 'scripts', 'test'];
const IGNORED = new Set(['node_modules', 'cache', 'record', 'golden']);
const SOURCE = /\.[cm]?[jt]s$/;

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
  const files = FOLDERS.flatMap((folder) => filesBelow(root, folder)).sort();
  const imports = files.flatMap((from) =>
    specifiersOf(readFileSync(join(root, from), 'utf8'), from)
      .filter(({ specifier }) => specifier.startsWith('.'))
      .map(({ specifier, line }) => ({ from, to: resolve(root, from, specifier), line })),
  );
  return { files, imports };
}

/** @returns {string[]} */
function filesBelow(root, folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (IGNORED.has(entry.name)) return [];
    const path = posix.join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(root, path);
    return SOURCE.test(entry.name) ? [path] : [];
  });
}

/** A specifier names the compiled file: `./a.js` imports `a.ts`, unless `a.js` exists. */
function resolve(root, from, specifier) {
  const path = posix.join(posix.dirname(from), specifier);
  if (existsSync(join(root, path))) return path;
  const source = path.replace(/js$/, 'ts');
  return existsSync(join(root, source)) ? source : path;
}

/** @returns {{ specifier: string, line: number }[]} */
function specifiersOf(text, file) {
  const found = [];
  const plugins = /ts$/.test(file) ? ['typescript', 'explicitResourceManagement'] : [];
  const visit = (node) => {
    const source = sourceOf(node);
    if (source?.type === 'StringLiteral')
      found.push({ specifier: source.value, line: source.loc.start.line });
    for (const child of Object.values(node)) {
      if (Array.isArray(child)) for (const item of child) if (typeof item?.type === 'string') visit(item);
      if (typeof child?.type === 'string') visit(child);
    }
  };
  visit(parse(text, { sourceFilename: file, sourceType: 'module', plugins, errorRecovery: true }).program);
  return found;
}

/** The node that names the module, where `node` imports one. */
function sourceOf(node) {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration':
      return node.source;
    case 'TSImportType':
      return node.argument.literal ?? node.argument;
    case 'TSExternalModuleReference':
      return node.expression;
    case 'CallExpression':
      return node.callee.type === 'Import' || node.callee.name === 'require' ? node.arguments[0] : undefined;
    default:
      return undefined;
  }
}
