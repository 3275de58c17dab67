// Lays out a package in a directory of its own, and packs that directory.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../setup.mjs';

export function readManifest(path = '.') {
  return JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'));
}

/** Writes a package: its manifest, and `files`, which maps paths in the package to paths in the checkout. */
export function writePackage(directory, manifest, files) {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  for (const [target, source] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, target)), { recursive: true });
    cpSync(join(root, source), join(directory, target), { recursive: true });
  }
  return directory;
}

/** Packs a directory with npm, and returns what npm says about the tarball. */
export function packDirectory(directory, output) {
  const args = [
    'pack',
    directory,
    '--json',
    '--ignore-scripts',
    '--loglevel=error',
    '--pack-destination',
    output,
  ];
  return Object.values(JSON.parse(execFileSync('npm', args, { encoding: 'utf8' })))[0];
}
