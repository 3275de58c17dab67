import { types } from 'node:util';
import type { Stoppable } from '../../async/stoppable.js';
import { native, type StopFlag } from './binding.js';

/** Starts a native call, which returns its result instead of a promise if it is there at once. */
type NativeCall<T> = (stop: StopFlag) => T | Promise<T>;

/** Flags of calls that are done, which nobody set: to make a flag takes longer than some calls. */
const unused: StopFlag[] = [];

/** Runs a native call that stops within milliseconds once the signal is aborted. The call then rejects. */
export async function withStopFlag<T>(signal: AbortSignal | undefined, call: NativeCall<T>): Promise<T> {
  signal?.throwIfAborted();
  const flag = takeFlag();
  return await unlessAborted(signal, flag, call(flag));
}

/**
 * Runs a native call that cannot be undone. When the signal is aborted after the call took effect, the call still
 * resolves with its result.
 */
export async function withStopFlagUntilDone<T>(
  signal: AbortSignal | undefined,
  call: NativeCall<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const flag = takeFlag();
  return await untilDone(signal, flag, call(flag));
}

/**
 * Runs a native call that has not been stopped as {@link withStopFlag} does, but reads the signal only if the result is not
 * there at once.
 */
export function withStopFlagIfPending<T>(stoppable: Stoppable, call: NativeCall<T>): T | Promise<T> {
  const flag = takeFlag();
  const result = call(flag);
  // Not `instanceof`: a program may have replaced the global class, or run in a context of its own.
  if (types.isPromise(result)) return unlessAborted(stoppable.signal, flag, result);
  unused.push(flag);
  return result;
}

function takeFlag(): StopFlag {
  return unused.pop() ?? new (native().StopFlag)();
}

/** Sets the flag when the signal is aborted before the result is there. */
async function untilDone<T>(
  signal: AbortSignal | undefined,
  flag: StopFlag,
  result: T | Promise<T>,
): Promise<T> {
  let isSet = false;
  const stop = () => {
    isSet = true;
    flag.stop();
  };
  if (signal?.aborted) stop();
  signal?.addEventListener('abort', stop, { once: true });
  try {
    return await result;
  } finally {
    signal?.removeEventListener('abort', stop);
    if (!isSet) unused.push(flag);
  }
}

/** As {@link untilDone}; rejects with the reason of a signal that was aborted in the meantime. */
async function unlessAborted<T>(
  signal: AbortSignal | undefined,
  flag: StopFlag,
  result: T | Promise<T>,
): Promise<T> {
  const value = await untilDone(signal, flag, result);
  signal?.throwIfAborted();
  return value;
}
