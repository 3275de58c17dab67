import { isMainThread } from 'node:worker_threads';
import { CosiftError } from '../errors.js';
import { type Attempt, libcName, loadFailure } from '../platform/platform.js';

const PACKAGE = '@cosift/onnxruntime';

/** The platforms for which onnxruntime is published. A build for Linux needs glibc. */
export const RUNTIMES = ['darwin-arm64', 'linux-arm64', 'linux-x64', 'win32-arm64', 'win32-x64'];

/**
 * Loads onnxruntime without its telemetry.
 *
 * The official builds send usage reports unless ORT_DISABLE_TELEMETRY is set before the first session. The main thread
 * sets it. A worker thread cannot, because its `process.env` is a copy that native code does not see. The main thread
 * must load the addon first in any case: an addon that a worker loads first can crash when that worker ends.
 *
 * Source: <https://github.com/microsoft/onnxruntime/pull/27379>
 * @throws {CosiftError} `not_installed`
 */
export async function loadRuntime(): Promise<void> {
  if (isMainThread) {
    process.env.ORT_DISABLE_TELEMETRY = '1';
  } else if (process.env.ORT_DISABLE_TELEMETRY !== '1') {
    throw new CosiftError(
      'not_ready',
      'a worker thread cannot turn off the usage reports of onnxruntime: set ORT_DISABLE_TELEMETRY=1 in the environment of the process, or use the model in the main thread before the worker starts',
    );
  }
  try {
    await import('@cosift/onnxruntime');
  } catch (cause) {
    throw loadFailure('onnxruntime, which runs models,', attemptsOf(cause), fixes());
  }
}

/** The package reports each package that it tried as an error of its own. */
function attemptsOf(cause: unknown): Attempt[] {
  if (!(cause instanceof AggregateError)) return [{ name: PACKAGE, cause }];
  return cause.errors.map((error: { package: string; cause: unknown }) => ({
    name: error.package,
    cause: error.cause,
  }));
}

function fixes(): string[] {
  const platform = `${process.platform}-${process.arch}`;
  const withoutModel = 'Databases with vectors of your own work without onnxruntime.';
  if (libcName() === 'musl') {
    return [`onnxruntime has no build for Linux with musl, only for glibc. ${withoutModel}`];
  }
  if (!RUNTIMES.includes(platform)) {
    return [`onnxruntime has no build for ${platform}, only for ${RUNTIMES.join(', ')}. ${withoutModel}`];
  }
  return [
    `Install it: npm install ${PACKAGE} --include=optional`,
    `npm leaves ${PACKAGE} out with --omit=peer, and the package for this platform with --omit=optional. Yarn never installs peer dependencies by itself. ${withoutModel}`,
  ];
}
