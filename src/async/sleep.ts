import { LinkedAbort } from './linked-abort.js';

/** Resolves after `ms` milliseconds; rejects with the reason of a signal as soon as it is aborted. */
export async function sleep(ms: number, ...signals: readonly (AbortSignal | undefined)[]): Promise<void> {
  for (const signal of signals) signal?.throwIfAborted();
  const stopped = new LinkedAbort(...signals);
  try {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(resolve, ms);
      stopped.signal.addEventListener('abort', () => {
        clearTimeout(timer);
        reject(stopped.signal.reason);
      });
    });
  } finally {
    stopped.unlink();
  }
}
