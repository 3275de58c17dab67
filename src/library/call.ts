import type { CallOptions } from '../api/index.js';
import { checkOptions } from '../schema/index.js';

/** Checks the options of a call, and that its signal is not aborted. */
export function checkCall(options: CallOptions): void {
  checkOptions('call', options);
  options.signal?.throwIfAborted();
}
