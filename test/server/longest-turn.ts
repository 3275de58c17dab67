import { openSync, readSync } from 'node:fs';

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

/** How long one turn may take, in milliseconds, on a machine that needs `SAMPLE_MS` for `sample`. */
const MAX_TURN_MS = 50;
const SAMPLE_MS = 65;
const SAMPLE = JSON.stringify(Array.from({ length: 8_000 }, (_, i) => ({ id: i, data: { text: `${i}` } })));

function sample(): void {
  for (let i = 0; i < 25; i += 1) JSON.parse(SAMPLE);
}

/** How many times as long this machine takes now for `sample` as one on which a turn may take `MAX_TURN_MS`; at least 1. */
function slowness(): number {
  const began = ran();
  sample();
  return Math.max(1, (ran() - began) / SAMPLE_MS);
}

/**
 * The longest turn of the event loop during `work`, as a share of what a turn may take on this machine: more than 1 is too long.
 * After such a turn, the work is done again: a garbage collection may have been part of it.
 */
export async function turnShare(work: () => Promise<unknown>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 8 && least > 1; tries += 1) {
    const share = (await longestTurn(work())) / MAX_TURN_MS;
    least = Math.min(least, share > 1 ? share / slowness() : share);
  }
  return least;
}
