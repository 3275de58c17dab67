// @cosift/client: the client alone. `npm run build:ts` writes its code and types to packages/client/dist.
import { join } from 'node:path';
import { readManifest, writePackage } from './stage.mjs';

const SOURCE = 'packages/client';

export function stageClient(stage) {
  const { files, ...manifest } = readManifest(SOURCE);
  // Both packages contain the same client, so they have the same version.
  const { version } = readManifest();
  return writePackage(
    join(stage, 'client'),
    { ...manifest, version, files },
    {
      ...Object.fromEntries([...files, 'README.md'].map((file) => [file, `${SOURCE}/${file}`])),
      LICENSE: 'LICENSE',
    },
  );
}
