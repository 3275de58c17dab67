import { openSync, readSync } from 'node:fs';

/** How long one turn of the event loop may take, in milliseconds. */
export const MAX_TURN_MS = 50;

/** Milliseconds that this thread has run. Where the system does not tell: the time, which includes that of other programs. */
export const ran = ((): (() => number) => {
  if (process.platform !== 'linux') return () => performance.now();
  const file = openSync('/proc/thread-self/schedstat', 'r');
  const bytes = Buffer.alloc(64);
  return () => Number(bytes.toString('latin1', 0, readSync(file, bytes, 0, 64, 0)).split(' ', 1)[0]) / 1e6;
})();

/** The longest turn of the event loop until `work` is done, in milliseconds. */
export async function longestTurn(work: Promise<unknown>): Promise<number> {
  let isDone = false;
  work.finally(() => {
    isDone = true;
  });
  let longest = 0;
  let before = ran();
  while (!isDone) {
    await new Promise((resolve) => setImmediate(resolve));
    const now = ran();
    longest = Math.max(longest, now - before);
    before = now;
  }
  return longest;
}
