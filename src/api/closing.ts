import { unlessAborted } from '../async/until-aborted.js';
import { checkOptions } from '../schema/options.js';
import type { CallOptions } from './options.js';

/** Runs `close`. A signal that is aborted before begins nothing; one that is aborted later ends only the wait. */
export function closing(options: CallOptions, close: () => Promise<void>): Promise<void> {
  try {
    checkOptions('call', options);
    options.signal?.throwIfAborted();
  } catch (error) {
    return Promise.reject(error);
  }
  // Without a signal, each call returns the same promise.
  return unlessAborted(close(), options.signal);
}
