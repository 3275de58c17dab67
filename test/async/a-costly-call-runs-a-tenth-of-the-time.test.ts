import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { rationed } from '../../src/async/rationed.js';

test('callers share a call, after which there is a pause ten times as long', async () => {
  const calls: { start: number; end: number }[] = [];
  const read = rationed(async () => {
    const start = performance.now();
    await sleep(10);
    return calls.push({ start, end: performance.now() });
  });
  expect(await Promise.all([read(), read(), read()])).toEqual([1, 1, 1]);
  expect(await Promise.all([read(), read()])).toEqual([2, 2]);
  const [first, second] = calls as [{ start: number; end: number }, { start: number; end: number }];
  // Timers may fire a millisecond early.
  expect(second.start - first.end).toBeGreaterThan(10 * (first.end - first.start) - 2);
});

test('a failure ends a call like a result', async () => {
  let calls = 0;
  const read = rationed(async () => {
    calls += 1;
    if (calls === 1) throw new Error('no');
    return calls;
  });
  await expect(Promise.all([read(), read()])).rejects.toThrow('no');
  expect(await read()).toBe(2);
});
