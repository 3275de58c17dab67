import { unlessAborted } from '../async/until-aborted.js';
import { checkOptions } from '../schema/options.js';
import type { BackupOptions, CallOptions, GetOptions } from './options.js';

/** Returns the options of a call as they are now. Throws the reason of a signal that is aborted. */
export function callOptions(options: CallOptions = {}): CallOptions {
  checkOptions('call', options);
  const { signal } = options;
  signal?.throwIfAborted();
  return { signal };
}

/** Returns the options of a read as they are now. Throws the reason of a signal that is aborted. */
export function getOptions(options: GetOptions = {}): CallOptions & { vectors: boolean } {
  checkOptions('get', options);
  const { vectors = false, signal } = options;
  signal?.throwIfAborted();
  return { vectors, signal };
}

/** Returns the options of a backup as they are now. Throws the reason of a signal that is aborted. */
export function backupOptions(options: BackupOptions = {}): BackupOptions {
  checkOptions('backup', options);
  const { database, signal, onProgress } = options;
  signal?.throwIfAborted();
  return { database, signal, onProgress };
}

/** Runs `close`. A signal that is aborted before begins nothing; one that is aborted later ends only the wait. */
export function closing(options: CallOptions | undefined, close: () => Promise<void>): Promise<void> {
  let signal: AbortSignal | undefined;
  try {
    ({ signal } = callOptions(options));
  } catch (error) {
    return Promise.reject(error);
  }
  // Without a signal, each call returns the same promise.
  return unlessAborted(close(), signal);
}
