// A package that is a folder of `src` alone: @cosift/client, @cosift/langchain. `npm run build:ts` writes its code and types to
// packages/NAME/dist.
import { join } from 'node:path';
import { readManifest, writePackage } from './stage.mjs';

export function stageRoom(stage, name) {
  const source = `packages/${name}`;
  const { files, ...manifest } = readManifest(source);
  // Made of the same sources as cosift, so it has the same version.
  const { version } = readManifest();
  return writePackage(
    join(stage, name),
    { ...manifest, version, files },
    {
      ...Object.fromEntries([...files, 'README.md'].map((file) => [file, `${source}/${file}`])),
      LICENSE: 'LICENSE',
    },
  );
}
