import { cpSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { MULTILINGUAL } from '../pack/multilingual.mjs';
import { root } from '../setup.mjs';
import { run } from './commands.mjs';

/** Packs a fresh clone of HEAD, and returns the directory of the tarballs. */
export async function packClone(directory, npm) {
  const clone = join(directory, 'clone');
  const packed = join(directory, 'packed');
  console.log('packing a fresh clone of HEAD');
  await run('git', ['clone', '--quiet', '--depth=1', `file://${root}`, clone]);
  // The build in the clone keeps the engine only if its stamp says that it was built from the same sources.
  for (const name of readdirSync(join(root, 'native'))) {
    if (/\.(node|sha256)$/.test(name)) cpSync(join(root, 'native', name), join(clone, 'native', name));
  }
  // Otherwise they are made once more.
  for (const name of ['onnx', 'tokenizer.json']) {
    const made = join(MULTILINGUAL, name);
    if (existsSync(join(root, made))) cpSync(join(root, made), join(clone, made), { recursive: true });
  }
  console.log(await npm(['run', '--silent', 'pack', '--', '--output', packed], { cwd: clone }));
  return packed;
}
