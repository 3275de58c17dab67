import { existsSync } from 'node:fs';
import type * as Native from '../../../native/index.cjs';
import { packageFile, packageVersion, requireFromPackage } from '../../platform/package.js';
import { type Attempt, libcName, loadFailure } from '../../platform/platform.js';

/** The platforms for which an engine is published, by the names of napi-rs. */
export const ENGINES = [
  'linux-x64-gnu',
  'linux-arm64-gnu',
  'linux-x64-musl',
  'linux-arm64-musl',
  'darwin-x64',
  'darwin-arm64',
  'win32-x64-msvc',
];

/** The name of this platform, such as `linux-x64-gnu`. */
function platformName(): string {
  const { platform, arch } = process;
  if (platform === 'linux') return `linux-${arch}-${libcName() === 'musl' ? 'musl' : 'gnu'}`;
  return platform === 'win32' ? `win32-${arch}-msvc` : `${platform}-${arch}`;
}

/**
 * Loads the engine: the file that a checkout builds, or else the package for this platform.
 *
 * @throws {CosiftError} `not_installed`, with the cause of each attempt and the fix.
 */
export function loadEngine(): typeof Native {
  const platform = platformName();
  const built = packageFile(`native/cosift.${platform}.node`);
  const attempts: Attempt[] = [];
  for (const load of [() => requireBuilt(built), () => requirePackage(`@cosift/engine-${platform}`)]) {
    const outcome = load();
    if ('engine' in outcome) return outcome.engine;
    attempts.push(outcome);
  }
  throw loadFailure('the engine of cosift', attempts, fixesFor(platform, attempts));
}

type Outcome = { engine: typeof Native } | Attempt;

function requireBuilt(file: string): Outcome {
  if (!existsSync(file)) return { name: file, cause: 'there is no such file' };
  return requireFile(file);
}

function requirePackage(name: string): Outcome {
  let file: string;
  let installed: string;
  try {
    file = requireFromPackage.resolve(name);
    installed = requireFromPackage(`${name}/package.json`).version;
  } catch (cause) {
    return { name, cause };
  }
  // Packages of different versions need not fit each other, and then fail at the first call that differs.
  const version = packageVersion();
  if (installed !== version) {
    return {
      name: `${name}@${installed}`,
      cause: `cosift is version ${version}, and needs the same of its engine`,
    };
  }
  return requireFile(file);
}

function requireFile(file: string): Outcome {
  try {
    return { engine: requireFromPackage(file) };
  } catch (cause) {
    return { name: file, cause };
  }
}

function fixesFor(platform: string, attempts: readonly Attempt[]): string[] {
  const fromSource =
    'To build it from source, see https://github.com/cosift/cosift/blob/main/CONTRIBUTING.md; in a checkout, run: npm run build';
  if (!ENGINES.includes(platform)) {
    return [`There is no prebuilt engine for ${platform}, only for ${ENGINES.join(', ')}.`, fromSource];
  }
  const version = packageVersion();
  const name = `@cosift/engine-${platform}`;
  const fix = `Install the package for this platform: npm install ${name}@${version}`;
  if (attempts.some((attempt) => attempt.name.startsWith(`${name}@`))) return [fix, fromSource];
  const isMissing = attempts.some((attempt) => attempt.name === name);
  const reason = isMissing
    ? 'npm leaves this package out with --omit=optional, and with a node_modules or a lockfile of another platform.'
    : 'The file is damaged, or needs a newer system than this one.';
  return [fix, reason, fromSource];
}
