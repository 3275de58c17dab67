import { unlessAborted } from '../async/until-aborted.js';
import { checkOptions } from '../schema/options.js';
import type { CallOptions } from './options.js';

/** Runs `close`. A signal that is aborted before begins nothing; one that is aborted later ends only the wait. */
export function closing(options: CallOptions, close: () => Promise<void>): Promise<void> {
  // Without options, each call returns the same promise.
  return Object.keys(options).length === 0 ? close() : closingUnless(options, close);
}

async function closingUnless(options: CallOptions, close: () => Promise<void>): Promise<void> {
  checkOptions('call', options);
  const { signal } = options;
  signal?.throwIfAborted();
  await (signal === undefined ? close() : unlessAborted(close(), signal));
}
