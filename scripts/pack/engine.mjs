// @cosift/engine-PLATFORM: the native engine for one platform, with the licences of what it is linked with.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NapiCli, parseTriple } from '@napi-rs/cli';
import { fail, root } from '../setup.mjs';
import { noticesOf } from './notices.mjs';
import { readManifest, writePackage } from './stage.mjs';

const NOTICES = 'ThirdPartyNotices.txt';

/**
 * Returns name and version of the engine of every platform; each that is built has a `directory`. Names and files, `os`,
 * `cpu` and `libc` are those of napi-rs.
 */
export async function stageEngines(stage, { allPlatforms }) {
  const { publishConfig, ...manifest } = readManifest();
  const directory = writePackage(join(stage, 'engines'), manifest, {});
  await new NapiCli().createNpmDirs({ cwd: directory });
  return manifest.napi.targets.map((triple) => {
    const platform = parseTriple(triple).platformArchABI;
    const target = join(directory, 'npm', platform);
    const generated = JSON.parse(readFileSync(join(target, 'package.json'), 'utf8'));
    const { name, version, main } = generated;
    const built = `native/${main}`;
    if (!existsSync(join(root, built))) {
      if (allPlatforms) fail(`${built} is missing: build the engine for ${triple}`);
      return { name, version };
    }
    const description = `The engine of cosift for ${platform}`;
    const files = [main, NOTICES];
    writePackage(
      target,
      { ...generated, description, files, publishConfig },
      { [main]: built, LICENSE: 'LICENSE' },
    );
    writeFileSync(join(target, 'README.md'), readmeOf(name, triple));
    writeFileSync(join(target, NOTICES), noticesOf(triple));
    return { name, version, directory: target };
  });
}

function readmeOf(name, triple) {
  return `# ${name}

The engine of [cosift](https://www.npmjs.com/package/cosift) for \`${triple}\`. Do not install it yourself: npm installs
it with \`cosift\` on the platforms that it is built for. ${NOTICES} has the licences of the libraries in it.
`;
}
