// cosift: JavaScript, types, documentation and demo data. Its manifest is that of the checkout without what is only for
// development, and with the engines of all platforms.
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { declarationsFrom } from '../bundle/package.mjs';
import { rewriteLinks } from './links.mjs';
import { readManifest, writePackage } from './stage.mjs';

const DEVELOPMENT = ['private', 'scripts', 'devDependencies', 'napi', 'allowScripts', 'overrides'];

// Source maps would be a third of the package. The compiled files are readable without them.
const BUILD_FILES = /\.map$|(^|\/)\.(stamp|tsbuildinfo)$/;

/** What programs import. Declarations that these do not need are those of internal files. */
const ENTRIES = ['index.d.cts', 'client/index.d.cts', 'ai/index.d.cts'];
const DECLARATION = /^dist.*\.d\.c?ts$/;

export function stageCosift(stage, engines) {
  const { files, ...manifest } = readManifest();
  for (const member of DEVELOPMENT) delete manifest[member];
  const directory = writePackage(
    join(stage, 'cosift'),
    {
      ...manifest,
      files,
      optionalDependencies: Object.fromEntries(engines.map(({ name, version }) => [name, version])),
    },
    Object.fromEntries([...files, 'README.md', 'LICENSE'].map((path) => [path, path])),
  );
  // A package of its own.
  rmSync(join(directory, 'dist/langchain'), { recursive: true });
  const declarations = new Set();
  for (const entry of ENTRIES) declarationsFrom(join(directory, 'dist', entry), declarations);
  const entries = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  for (const name of entries) {
    const file = join(directory, name);
    const isInternal = DECLARATION.test(name) && !declarations.has(file);
    if (BUILD_FILES.test(name) || isInternal) rmSync(file);
    else if (/\.c?js$/.test(name)) removeSourceMapComment(file);
  }
  chmodSync(join(directory, manifest.bin.cosift), 0o755);
  const pages = entries.filter((name) => name.endsWith('.md'));
  rewriteLinks(directory, Object.fromEntries(pages.map((page) => [page, page])), (path) => path);
  return directory;
}

function removeSourceMapComment(file) {
  writeFileSync(file, readFileSync(file, 'utf8').replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n'));
}
