// @cosift/onnxruntime, and onnxruntime-node for one platform each: the unmodified files that run a model on the CPU.
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fail } from '../setup.mjs';
import { readManifest, writePackage } from './stage.mjs';

const SOURCE = 'packages/onnxruntime';
const ORIGINAL = 'node_modules/onnxruntime-node';

/** The file that the addon is linked with. The others of a platform are for GPUs, or are copies. */
const LIBRARIES = {
  linux: 'libonnxruntime.so.1',
  darwin: 'libonnxruntime.1.dylib',
  win32: 'onnxruntime.dll',
};

export function stageOnnxruntime(stage, { allPlatforms }) {
  const manifest = readManifest(SOURCE);
  const original = readManifest(ORIGINAL);
  if (manifest.version !== original.version) {
    fail(`${SOURCE} has version ${manifest.version}, but onnxruntime-node has ${original.version}`);
  }
  const platforms = readdirSync(`${ORIGINAL}/bin/napi-v6`).flatMap((os) =>
    readdirSync(`${ORIGINAL}/bin/napi-v6/${os}`).map((cpu) => ({ os, cpu })),
  );
  const names = platforms.map(({ os, cpu }) => [`${manifest.name}-${os}-${cpu}`, manifest.version]);
  const main = writePackage(
    join(stage, 'onnxruntime'),
    { ...manifest, optionalDependencies: Object.fromEntries(names) },
    Object.fromEntries(
      [...manifest.files, 'README.md', 'LICENSE'].map((file) => [file, `${SOURCE}/${file}`]),
    ),
  );
  const chosen = platforms.filter(
    ({ os, cpu }) => allPlatforms || (os === process.platform && cpu === process.arch),
  );
  return [main, ...chosen.map((platform) => stagePlatform(stage, manifest, platform))];
}

function stagePlatform(stage, manifest, { os, cpu }) {
  const { version, homepage, bugs, repository, engines, publishConfig, dependencies } = manifest;
  const name = `${manifest.name}-${os}-${cpu}`;
  const bin = `bin/napi-v6/${os}/${cpu}`;
  const scripts = readdirSync(`${ORIGINAL}/dist`).filter((file) => file.endsWith('.js'));
  const files = [
    ...scripts.map((file) => `dist/${file}`),
    `${bin}/onnxruntime_binding.node`,
    `${bin}/${LIBRARIES[os]}`,
  ];
  const directory = writePackage(
    join(stage, name.replace('@cosift/', '')),
    {
      name,
      version,
      description: `onnxruntime-node ${version} for ${os} on ${cpu}, CPU only`,
      homepage,
      bugs,
      repository,
      license: 'MIT',
      engines,
      os: [os],
      cpu: [cpu],
      ...(os === 'linux' && { libc: ['glibc'] }),
      main: 'dist/index.js',
      files: ['dist', 'bin', 'ThirdPartyNotices.txt'],
      publishConfig,
      dependencies,
    },
    {
      ...Object.fromEntries(files.map((file) => [file, `${ORIGINAL}/${file}`])),
      LICENSE: `${SOURCE}/upstream/LICENSE`,
      'ThirdPartyNotices.txt': `${SOURCE}/upstream/ThirdPartyNotices.txt`,
    },
  );
  writeFileSync(join(directory, 'README.md'), readmeOf(name, version));
  return directory;
}

function readmeOf(name, version) {
  return `# ${name}

The unmodified files of [onnxruntime-node](https://www.npmjs.com/package/onnxruntime-node) ${version}, by Microsoft,
that run a model on the CPU of one platform. Do not install it yourself: npm installs it with
[@cosift/onnxruntime](https://www.npmjs.com/package/@cosift/onnxruntime). It is licensed under the
[MIT License](LICENSE); ThirdPartyNotices.txt has the licences of the libraries in it.
`;
}
