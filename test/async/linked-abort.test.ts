import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { LinkedAbort } from '../../src/async/linked-abort.js';

const listeners = (signal: AbortSignal) => getEventListeners(signal, 'abort').length;

test('it is aborted with the first of its signals, for the same reason', () => {
  const [first, second] = [new AbortController(), new AbortController()];
  using linked = new LinkedAbort(first.signal, undefined, second.signal);
  expect(linked.signal.aborted).toBe(false);
  second.abort('because');
  first.abort('too late');
  expect(linked.signal.reason).toBe('because');
  using late = new LinkedAbort(first.signal);
  expect(late.signal.reason).toBe('too late');
});

test('a signal that lives on keeps nothing of those that are disposed of', () => {
  const living = new AbortController();
  for (let call = 0; call < 100; call += 1) {
    using linked = new LinkedAbort(living.signal, new AbortController().signal);
    expect(listeners(living.signal)).toBe(1);
    if (call % 2 === 0) linked.abort();
  }
  expect(listeners(living.signal)).toBe(0);
  expect(living.signal.aborted).toBe(false);
});
