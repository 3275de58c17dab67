import { sleep } from './sleep.js';

/** How much longer than a call the pause after it is. */
const FACTOR = 10;
/** The longest pause, in milliseconds. Whoever asks for the state of a service waits for a second only. */
const MAX_PAUSE_MS = 500;

/**
 * Returns a function that runs `call` for at most a tenth of the time, however often it is called: after a call there is a
 * pause ten times as long, at most half a second. Callers during the pause and the next call share its result.
 */
export function rationed<T>(call: () => Promise<T>): () => Promise<T> {
  let next: Promise<T> | undefined;
  let pauseEnd = 0;
  const run = async () => {
    const pause = pauseEnd - performance.now();
    if (pause > 0) await sleep(pause);
    const start = performance.now();
    try {
      return await call();
    } finally {
      next = undefined;
      const end = performance.now();
      pauseEnd = end + Math.min(MAX_PAUSE_MS, FACTOR * (end - start));
    }
  };
  return () => {
    next ??= run();
    return next;
  };
}
