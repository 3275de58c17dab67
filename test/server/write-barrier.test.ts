import { expect, test } from 'vitest';
import { CallTracker } from '../../src/async/call-tracker.js';
import type { ChangeFeed } from '../../src/databases/change-feed.js';
import type { Dependencies } from '../../src/databases/dependencies.js';
import { RecordWriter } from '../../src/databases/record-writer.js';
import { WriteBarrier, WriteBarriers } from '../../src/databases/write-barrier.js';

/** A write that ends when `end` is called. */
function write(barrier: WriteBarrier, log: string[], name: string) {
  let end = () => {};
  const told = new Promise<void>((resolve) => {
    end = resolve;
  });
  const done = barrier.run(async () => {
    log.push(`${name} begins`);
    await told;
    log.push(`${name} ends`);
  });
  return { end, done };
}

test('it closes once no write is running; later writes wait', async () => {
  const barrier = new WriteBarrier();
  const log: string[] = [];
  const first = write(barrier, log, 'first');
  const second = write(barrier, log, 'second');
  const closed = barrier.close().then((open) => {
    log.push('closed');
    return open;
  });
  const third = write(barrier, log, 'third');
  third.end();
  second.end();
  await second.done;
  first.end();
  const open = await closed;
  expect(log).toEqual(['first begins', 'second begins', 'second ends', 'first ends', 'closed']);
  open();
  await third.done;
  expect(log.slice(5)).toEqual(['third begins', 'third ends']);
});

test('a closed gate keeps a limited number waiting, and none that gave up', async () => {
  const barrier = new WriteBarrier();
  const open = await barrier.close();
  let passed = 0;
  const pass = (signal?: AbortSignal) =>
    barrier.run(
      async () => {
        passed += 1;
      },
      { signal },
    );
  const stop = new AbortController();
  const gaveUp = pass(stop.signal);
  const waiting = Array.from({ length: 1023 }, () => pass());
  await expect(pass()).rejects.toMatchObject({ code: 'busy' });
  stop.abort(new Error('the caller went away'));
  open();
  await expect(gaveUp).rejects.toThrow('the caller went away');
  await Promise.all(waiting);
  expect(passed).toBe(1023);
  await pass();
});

test('a write that is aborted while the barrier is closed rejects at once and makes room for another', async () => {
  const barrier = new WriteBarrier();
  const open = await barrier.close();
  const written: number[] = [];
  const stop = new AbortController();
  const write = (i: number, signal?: AbortSignal) =>
    barrier.run(
      async () => {
        written.push(i);
      },
      { signal },
    );
  const waiting = Array.from({ length: 1024 }, (_, i) => write(i, i === 0 ? stop.signal : undefined));
  await expect(write(1024)).rejects.toMatchObject({ code: 'busy' });
  stop.abort(new Error('the caller went away'));
  await expect(waiting[0]).rejects.toThrow('the caller went away');
  waiting[0] = write(1024);
  open();
  await Promise.all(waiting);
  expect(written.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 1024 }, (_, i) => i + 1));
});

test('of the writes that waited, four run at once, and those that come later are not behind them', async () => {
  const barrier = new WriteBarrier();
  const open = await barrier.close();
  const log: string[] = [];
  let waited = 0;
  const writes = Array.from({ length: 6 }, (_, at) => {
    let end = () => {};
    const ends = new Promise<void>((resolve) => {
      end = resolve;
    });
    const write = async () => {
      log.push(`${at} begins`);
      await ends;
    };
    const onWait = () => {
      waited += 1;
    };
    return { end, done: barrier.run(write, { onWait }) };
  });
  expect(waited).toBe(6);
  open();
  await expect.poll(() => log).toHaveLength(4);
  await barrier.run(async () => {
    log.push('later');
  });
  writes[2]?.end();
  await writes[2]?.done;
  await expect.poll(() => log).toHaveLength(6);
  for (const { end } of writes) end();
  await Promise.all(writes.map(({ done }) => done));
  const begun = [0, 1, 2, 3].map((at) => `${at} begins`);
  expect(log).toEqual([...begun, 'later', '4 begins', '5 begins']);
});

test('a deletion that is aborted while the barrier is closed rejects at once and deletes nothing', async () => {
  const barriers = new WriteBarriers();
  const open = await barriers.of('db').close();
  let deletions = 0;
  const store = {
    deleteRecords: async () => {
      deletions += 1;
      return 1;
    },
  };
  const infos = { get: async () => undefined };
  const feed = { notify: () => undefined };
  const calls = new CallTracker('the store');
  const dependencies = { store, infos, barriers, calls } as unknown as Dependencies;
  const writer = new RecordWriter(dependencies, feed as unknown as ChangeFeed);
  const stop = new AbortController();
  const deletion = writer.deleteRecords('db', { ids: [1] }, { signal: stop.signal });
  stop.abort(new Error('the caller went away'));
  await expect(deletion).rejects.toThrow('the caller went away');
  open();
  await barriers.of('db').run(async () => undefined);
  expect(deletions).toBe(0);
});
