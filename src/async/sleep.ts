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

/**
 * Returns the milliseconds to wait after `failures` failures in a row, of which the first has the number 0: twice as
 * long after each, up to `maxMs`, less a random part of at most half, so that many callers do not retry together.
 */
export function backoffMs(failures: number, firstMs: number, maxMs: number): number {
  return Math.min(firstMs * 2 ** failures, maxMs) * (0.5 + Math.random() / 2);
}

/** Returns the result of a promise, or undefined after `ms` milliseconds; the result is then ignored. */
export async function within<T>(ms: number, result: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  try {
    return await Promise.race([result, late]);
  } finally {
    clearTimeout(timer);
  }
}
