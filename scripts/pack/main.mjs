// npm run pack -- --output DIR: writes the tarballs of all packages for this platform.
//
//   --all-platforms   the packages of every platform; native/ must hold the engine of each
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { fail, setup } from '../setup.mjs';
import { stageCosift } from './cosift.mjs';
import { stageEngines } from './engine.mjs';
import { stageModel } from './model.mjs';
import { stageOnnxruntime } from './onnxruntime.mjs';
import { packDirectory } from './stage.mjs';

const { values } = parseArgs({
  options: { output: { type: 'string' }, 'all-platforms': { type: 'boolean', default: false } },
});
if (values.output === undefined) fail('say where the tarballs go: npm run pack -- --output DIR');
// npm runs scripts in the root of the checkout, and says where it was called.
const output = resolve(process.env.INIT_CWD ?? '.', values.output);
const allPlatforms = values['all-platforms'];

setup();
mkdirSync(output, { recursive: true });
const stage = mkdtempSync(join(tmpdir(), 'cosift-pack-'));
try {
  const engines = await stageEngines(stage, { allPlatforms });
  const packages = [
    stageCosift(stage, engines),
    ...engines.filter(({ directory }) => directory !== undefined).map(({ directory }) => directory),
    ...stageOnnxruntime(stage, { allPlatforms }),
    stageModel(stage),
  ];
  for (const directory of packages) {
    const { filename, size, unpackedSize, entryCount } = packDirectory(directory, output);
    const sizes = `${megabytes(size)} MB, unpacked ${megabytes(unpackedSize)} MB`;
    console.log(`cosift: ${filename}: ${entryCount} files, ${sizes}`);
  }
} finally {
  rmSync(stage, { recursive: true, force: true });
}

function megabytes(bytes) {
  return (bytes / 1e6).toFixed(1);
}
