// @cosift/model-minilm and @cosift/model-multilingual-e5: the directories of models.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { rewriteLinks } from './links.mjs';
import { readManifest, writePackage } from './stage.mjs';

const BUILT_IN = 'models/all-MiniLM-L6-v2';

/** Stages the directory of a model with a page that describes it. */
export function stageModel(stage, source = BUILT_IN, page = 'models/README.md') {
  const manifest = readManifest(source);
  const name = manifest.name.replace('@cosift/', '');
  const directory = writePackage(join(stage, name), manifest, { '.': source, 'README.md': page });
  rmSync(join(directory, '.gitignore'), { force: true });
  rewriteLinks(directory, { 'README.md': page }, (path) =>
    path.startsWith(`${source}/`) ? path.slice(source.length + 1) : undefined,
  );
  return directory;
}
