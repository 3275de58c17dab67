// What is in the tarballs: manifests, types, links.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { root } from '../setup.mjs';
import { check } from './checks.mjs';
import { run } from './commands.mjs';

const tool = (name) => join(root, 'node_modules/.bin', name);

/** Packages with types. Those that are only ESM are only checked as such. */
const TYPED = {
  cosift: 'node16',
  '@cosift/client': 'node16',
  '@cosift/langchain': 'node16',
  '@cosift/onnxruntime': 'esm-only',
};

/** Unpacks each tarball below `directory`. Returns its file, its manifest and where it was unpacked. */
export function unpack(tarballs, directory) {
  return readdirSync(tarballs)
    .filter((name) => name.endsWith('.tgz'))
    .map((name) => {
      const file = join(tarballs, name);
      const target = join(directory, basename(name, '.tgz'));
      mkdirSync(target, { recursive: true });
      execFileSync('tar', ['-xzf', file, '-C', target]);
      const unpacked = join(target, 'package');
      const manifest = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8'));
      return { file, unpacked, manifest };
    });
}

export async function checkTarballs(tarballs) {
  const checked = tarballs.map(async ({ file, unpacked, manifest }) => {
    const { name } = manifest;
    await check(`${name}: publint`, () =>
      run(tool('publint'), ['run', unpacked, '--strict', '--pack', 'false']),
    );
    if (TYPED[name]) {
      await check(`${name}: are the types wrong`, () =>
        run(tool('attw'), [file, '--profile', TYPED[name], '--format', 'ascii']),
      );
    }
    await check(`${name}: links`, () =>
      run(process.execPath, [join(root, 'scripts/check-links.mjs'), unpacked]),
    );
    await check(`${name}: what a registry shows`, () => checkManifest(manifest, unpacked));
  });
  await Promise.all(checked);
}

function checkManifest(manifest, unpacked) {
  const members = ['description', 'license', 'repository', 'homepage', 'bugs', 'engines', 'publishConfig'];
  const missing = members.filter((member) => manifest[member] === undefined);
  const files = ['README.md', 'LICENSE'].filter((file) => !readdirSync(unpacked).includes(file));
  if (missing.length + files.length > 0) throw new Error(`missing: ${[...missing, ...files].join(', ')}`);
  if (manifest.scripts !== undefined) throw new Error('it has scripts');
}
