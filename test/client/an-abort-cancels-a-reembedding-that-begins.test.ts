import { expect, test } from 'vitest';
import { reembed } from '../../src/api/reembed.js';
import { CosiftError } from '../../src/errors.js';
import type { Reembedding } from '../../src/schema/index.js';

const reason = new Error('no more');

/** A re-embedding whose beginning has a response once `begin` is called. */
function held() {
  let begin!: () => void;
  const state = { state: 'running', done: 0, records: 1, model: 'm' } as Reembedding;
  const starting = new Promise<Reembedding>((resolve) => {
    begin = () => resolve(state);
  });
  const calls: string[] = [];
  let asked!: () => void;
  const wasAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const reembedder = {
    startReembedding: () => {
      asked();
      return starting;
    },
    reembedding: () => Promise.reject(new CosiftError('reembedding_not_found', 'there is none')),
    describe: () => Promise.reject(new Error('not asked')),
    cancelReembedding: async () => {
      calls.push('cancel');
    },
  };
  return { begin, calls, wasAsked, reembedder };
}

test('what begins after the abort is cancelled before the call ends', async () => {
  const { begin, calls, wasAsked, reembedder } = held();
  const stop = new AbortController();
  const call = reembed(reembedder, 'm', { signal: stop.signal });
  await wasAsked;
  stop.abort(reason);
  setImmediate(begin);
  await expect(call).rejects.toBe(reason);
  expect(calls).toEqual(['cancel']);
});

test('the call ends though the beginning has no response', async () => {
  const { calls, wasAsked, reembedder } = held();
  const stop = new AbortController();
  const call = reembed(reembedder, 'm', { signal: stop.signal });
  await wasAsked;
  stop.abort(reason);
  await expect(call).rejects.toBe(reason);
  expect(calls).toEqual([]);
});
