import { expect, test } from 'vitest';
import { FairLimiter } from '../../src/async/fair-limiter.js';

/** A call that ends when `end` is called. */
function call(
  turns: FairLimiter,
  log: string[],
  caller: string,
  name: string,
  signal?: AbortSignal,
  places?: number,
) {
  let end = () => {};
  const told = new Promise<void>((resolve) => {
    end = resolve;
  });
  const work = async () => {
    log.push(name);
    await told;
  };
  return { end, done: turns.run(caller, work, { signal }, places) };
}

test('callers take turns, and none has all that may run at once', async () => {
  const turns = new FairLimiter({ total: 3, perCaller: 2 });
  const log: string[] = [];
  const a = ['a1', 'a2', 'a3', 'a4'].map((name) => call(turns, log, 'a', name));
  expect(log).toEqual(['a1', 'a2']);
  const b = ['b1', 'b2', 'b3'].map((name) => call(turns, log, 'b', name));
  const c = call(turns, log, 'c', 'c1');
  expect(log).toEqual(['a1', 'a2', 'b1']);
  a[0]?.end();
  await a[0]?.done;
  expect(log.slice(3)).toEqual(['a3']);
  a[1]?.end();
  await a[1]?.done;
  expect(log.slice(4)).toEqual(['b2']);
  b[0]?.end();
  await b[0]?.done;
  expect(log.slice(5)).toEqual(['c1']);
  for (const { end } of [...a, ...b, c]) end();
  await Promise.all([...a, ...b, c].map(({ done }) => done));
  expect(log.slice(6).toSorted()).toEqual(['a4', 'b3']);
});

test('a call that is stopped while it waits never runs, and one that fails lets the next one run', async () => {
  const turns = new FairLimiter({ total: 1, perCaller: 1 });
  const log: string[] = [];
  const first = call(turns, log, 'a', 'first');
  const stop = new AbortController();
  const gaveUp = call(turns, log, 'b', 'gave up', stop.signal);
  const failing = turns.run('c', () => Promise.reject(new Error('no')));
  const last = call(turns, log, 'b', 'last');
  stop.abort(new Error('the caller went away'));
  await expect(gaveUp.done).rejects.toThrow('the caller went away');
  const after = call(turns, log, 'd', 'after');
  for (const { end } of [first, last, after]) end();
  await expect(failing).rejects.toThrow('no');
  await Promise.all([last.done, after.done]);
  expect(log).toEqual(['first', 'last', 'after']);
});

test('a limited number waits', async () => {
  const turns = new FairLimiter({ total: 1, perCaller: 1 });
  const first = call(turns, [], 'a', 'first');
  const waiting = Array.from({ length: 4096 }, () => turns.run('b', async () => undefined));
  await expect(turns.run('c', async () => undefined)).rejects.toMatchObject({ code: 'busy' });
  first.end();
  await Promise.all([first.done, ...waiting]);
});

test('a group of callers has no more turns and calls than one caller, and its callers take turns', async () => {
  const turns = new FairLimiter({ total: 4, perCaller: 3 });
  const log: string[] = [];
  const group = ['a/b', 'a/c', 'a/d'].flatMap((caller) =>
    [1, 2, 3].map((n) => call(turns, log, caller, `${caller} ${n}`)),
  );
  // Three of the group, and two of one of its callers.
  expect(log).toEqual(['a/b 1', 'a/b 2', 'a/c 1']);
  const other = [call(turns, log, 'o', 'o 1'), call(turns, log, 'o', 'o 2')];
  expect(log.slice(3)).toEqual(['o 1']);
  const end = async ({ end, done }: { end: () => void; done: Promise<void> }) => {
    end();
    await done;
  };
  await end(other[0]!);
  expect(log.slice(4)).toEqual(['o 2']);
  for (const i of [0, 1, 3]) await end(group[i]!);
  expect(log.slice(5)).toEqual(['a/b 3', 'a/c 2', 'a/d 1']);
  for (const { end } of [...group, ...other]) end();
  await Promise.all([...group, ...other].map(({ done }) => done));
  expect(log).toHaveLength(11);
});

test('a call of many places waits until they are free, and is not overtaken for ever', async () => {
  const turns = new FairLimiter({ total: 4, perCaller: 3 });
  const log: string[] = [];
  const first = ['a1', 'a2'].map((name) => call(turns, log, 'a', name));
  const large = call(turns, log, 'b', 'large', undefined, 8);
  const small = call(turns, log, 'c', 'small');
  expect(log).toEqual(['a1', 'a2']);
  first[0]?.end();
  await first[0]?.done;
  // The large call takes all that its caller may have.
  expect(log.slice(2)).toEqual(['large']);
  first[1]?.end();
  await first[1]?.done;
  expect(log.slice(3)).toEqual(['small']);
  const others = ['b2', 'c2', 'c3', 'c4'].map((name) => call(turns, log, name.slice(0, 1), name));
  large.end();
  await large.done;
  expect(log.slice(4)).toEqual(['b2', 'c2', 'c3']);
  for (const { end } of [small, ...others]) end();
  await Promise.all([small, ...others].map(({ done }) => done));
});

test('a call of many places that gives up lets the others run', async () => {
  const turns = new FairLimiter({ total: 4, perCaller: 4 });
  const log: string[] = [];
  const first = call(turns, log, 'a', 'first');
  const stop = new AbortController();
  const large = call(turns, log, 'b', 'large', stop.signal, 4);
  const small = call(turns, log, 'c', 'small');
  expect(log).toEqual(['first']);
  stop.abort(new Error('left'));
  await expect(large.done).rejects.toThrow('left');
  expect(log).toEqual(['first', 'small']);
  for (const { end } of [first, small]) end();
  await Promise.all([first.done, small.done]);
});
