// @cosift/model-minilm: the directory of the built-in model.
import { join } from 'node:path';
import { rewriteLinks } from './links.mjs';
import { readManifest, writePackage } from './stage.mjs';

const SOURCE = 'models/all-MiniLM-L6-v2';

export function stageModel(stage) {
  const directory = writePackage(join(stage, 'model'), readManifest(SOURCE), {
    '.': SOURCE,
    'README.md': 'models/README.md',
  });
  rewriteLinks(directory, { 'README.md': 'models/README.md' }, (path) =>
    path.startsWith(`${SOURCE}/`) ? path.slice(SOURCE.length + 1) : undefined,
  );
  return directory;
}
