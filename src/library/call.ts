import type { CallOptions } from '../api/index.js';
import { unlessAborted } from '../async/until-aborted.js';
import { checkOptions } from '../schema/index.js';

/** Checks the options of a call, and that its signal is not aborted. */
export function checkCall(options: CallOptions): void {
  checkOptions('call', options);
  options.signal?.throwIfAborted();
}

/** Runs a call that cannot be stopped: an abort ends the wait for it. */
export function unlessCallAborted<T>({ signal }: CallOptions, call: () => Promise<T>): Promise<T> {
  return signal === undefined ? call() : unlessAborted(call(), signal);
}
