import { native } from './binding.js';

type StopFlag = InstanceType<typeof native.StopFlag>;

/** Runs a native call that the signal really stops: its scan ends at the next block. */
export async function stoppable<T>(
  signal: AbortSignal | undefined,
  call: (stop: StopFlag) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const flag = new native.StopFlag();
  const stop = () => flag.stop();
  signal?.addEventListener('abort', stop, { once: true });
  try {
    const result = await call(flag);
    signal?.throwIfAborted();
    return result;
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}
