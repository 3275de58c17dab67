import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { errorsOutside, root, SHARED } from './bundle.mjs';
import { noticesOf } from './notices.mjs';

/** What programs import, and the main modules of processes and threads. */
const ENTRIES = [
  'index.ts',
  'client/index.ts',
  'ai/index.ts',
  'cli/main.ts',
  'embedding/worker.ts',
  'store/local/sqlite-file.ts',
];

/** Packages with files that they find by their place, or which users install if they need them. */
const OUTSIDE = ['piscina', '@cosift/*', 'onnxruntime-node', 'mysql2', 'pg-native'];

/** The packages of CommonJS inside need `require` for the modules of Node. */
const REQUIRE = `import { createRequire as requireOf } from 'node:module';
const require = requireOf(import.meta.url);`;

/**
 * Writes the ES modules of `dist`: the entries, and `chunks` of the modules that several of them need, or that are imported
 * when they are needed. A start reads a few files in place of hundreds, which are those of packages above all.
 */
export async function buildModules() {
  // Their names have hashes of what is in them.
  rmSync(join(root, 'dist', 'chunks'), { recursive: true, force: true });
  const { metafile } = await build({
    ...SHARED,
    entryPoints: ENTRIES.map((entry) => `src/${entry}`),
    outbase: 'src',
    outdir: 'dist',
    chunkNames: 'chunks/[name]-[hash]',
    splitting: true,
    format: 'esm',
    platform: 'node',
    external: OUTSIDE,
    banner: { js: REQUIRE },
    plugins: [errorsOutside],
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
  });
  const notices = noticesOf(root, Object.keys(metafile.inputs));
  writeFileSync(join(root, 'dist', 'ThirdPartyNotices.txt'), notices.join(`\n${'='.repeat(80)}\n`));
  chmodSync(join(root, 'dist', 'cli', 'main.js'), 0o755);
}
