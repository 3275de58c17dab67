import { native, type StopFlag } from './binding.js';

/** Flags of calls that are done, which nobody set: to make a flag takes longer than some calls. */
const unused: StopFlag[] = [];

/** Runs a native call that stops within milliseconds once the signal is aborted. The call then rejects. */
export async function withStopFlag<T>(
  signal: AbortSignal | undefined,
  call: (stop: StopFlag) => Promise<T>,
): Promise<T> {
  const result = await withStopFlagUntilDone(signal, call);
  signal?.throwIfAborted();
  return result;
}

/**
 * Runs a native call that cannot be undone. When the signal is aborted after the call took effect, the call still
 * resolves with its result.
 */
export async function withStopFlagUntilDone<T>(
  signal: AbortSignal | undefined,
  call: (stop: StopFlag) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const flag = unused.pop() ?? new (native().StopFlag)();
  let isSet = false;
  const stop = () => {
    isSet = true;
    flag.stop();
  };
  signal?.addEventListener('abort', stop, { once: true });
  try {
    return await call(flag);
  } finally {
    signal?.removeEventListener('abort', stop);
    if (!isSet) unused.push(flag);
  }
}
