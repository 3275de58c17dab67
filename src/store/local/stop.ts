import { native } from './binding.js';

type StopFlag = InstanceType<typeof native.StopFlag>;

/** Runs a native call that the signal really stops: it ends within milliseconds and keeps nothing. */
export async function stoppable<T>(
  signal: AbortSignal | undefined,
  call: (stop: StopFlag) => Promise<T>,
): Promise<T> {
  const result = await stoppableUntilDone(signal, call);
  signal?.throwIfAborted();
  return result;
}

/** As {@link stoppable}, for a call that cannot be taken back: its result counts although the signal came meanwhile. */
export async function stoppableUntilDone<T>(
  signal: AbortSignal | undefined,
  call: (stop: StopFlag) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const flag = new native.StopFlag();
  const stop = () => flag.stop();
  signal?.addEventListener('abort', stop, { once: true });
  try {
    return await call(flag);
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}
