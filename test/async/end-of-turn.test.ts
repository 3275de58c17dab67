import { expect, test, vi } from 'vitest';
import { endOfTurn } from '../../src/async/end-of-turn.js';

test('all that wait in a turn of the event loop continue in order, directly one after the other', async () => {
  const seen: string[] = [];
  const wait = async (name: string) => {
    await endOfTurn();
    seen.push(name);
  };
  for (const turn of [1, 2]) {
    const waiting = [wait('first'), wait('second')];
    setImmediate(() => seen.push('after them'));
    process.nextTick(() => seen.push('before them'));
    waiting.push(wait('third'));
    await Promise.all(waiting);
    await new Promise((resolve) => setImmediate(resolve));
    expect(seen.splice(0), `turn ${turn}`).toEqual(['before them', 'first', 'second', 'third', 'after them']);
  }
});

test('timers that stand still for a test do not stop it', async () => {
  vi.useFakeTimers();
  try {
    await endOfTurn();
  } finally {
    vi.useRealTimers();
  }
});
