import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stageCosift } from './cosift.mjs';
import { stageEngines } from './engine.mjs';
import { stageModel } from './model.mjs';
import { stageOnnxruntime } from './onnxruntime.mjs';
import { stageRoom } from './room.mjs';
import { packDirectory } from './stage.mjs';

/** Packs every package into `output`, and prints the sizes and how to install them. */
export async function writeTarballs(output, { allPlatforms }) {
  mkdirSync(output, { recursive: true });
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
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/** The packages depend on each other, so npm would look for those that are not named in its registry. */
function howToInstall(files) {
  const quoted = files.map((file) => (/^[\w./:\\-]+$/.test(file) ? file : `"${file}"`));
  return `cosift: install all of them at once, in the directory of a project:\n\n    npm install ${quoted.join(' ')}\n`;
}

function megabytes(bytes) {
  return (bytes / 1e6).toFixed(1);
}
