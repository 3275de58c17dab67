import { isMainThread } from 'node:worker_threads';
import { CosiftError } from '../errors.js';

/**
 * Loads onnxruntime without its telemetry.
 *
 * The official builds send usage reports unless ORT_DISABLE_TELEMETRY is set before the first session. The main thread
 * sets it. A worker thread cannot, because its `process.env` is a copy that native code does not see. The main thread
 * must load the addon first in any case: an addon that a worker loads first can crash when that worker ends.
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
