import { isMainThread } from 'node:worker_threads';
import { CosiftError } from '../errors.js';

/**
 * Loads onnxruntime with its usage reports off.
 *
 * The official builds report to their maker unless this variable is set before the first session. A worker's
 * `process.env` is a copy that native code never sees; hence in the main thread only, or with the variable set from
 * outside. The main thread is also where an addon must be loaded first: one first loaded in a worker can crash when
 * this ends.
 *
 * Source: <https://github.com/microsoft/onnxruntime/pull/27379>
 */
export async function loadRuntime(): Promise<void> {
  if (isMainThread) {
    process.env.ORT_DISABLE_TELEMETRY = '1';
  } else if (process.env.ORT_DISABLE_TELEMETRY !== '1') {
    throw new CosiftError(
      'not_ready',
      'an embedder in a worker thread needs ORT_DISABLE_TELEMETRY=1 in the environment of the process',
    );
  }
  await import('onnxruntime-node');
}
