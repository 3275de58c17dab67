import { expect, test } from 'vitest';
import { Job, type TextKind } from '../../src/embedding/job.js';
import { WorkQueue } from '../../src/embedding/work-queue.js';

const LIMIT = 4_096;
const TEXT = 'about as long as a short record';

function job(kind: TextKind, count: number, caller = 'a', call: object = {}): Job {
  return new Job(
    kind,
    Array.from({ length: count }, () => TEXT),
    { caller, call },
    1,
  );
}

/** Adds jobs, each under a name; the names of the jobs whose slices are taken. */
function queueOf(limit = LIMIT) {
  const queue = new WorkQueue(limit, { texts: 16, characters: 2_000 });
  const names = new Map<Job, string>();
  return {
    queue,
    add(name: string, added: Job): boolean {
      names.set(added, name);
      return queue.push(added);
    },
    take: (count: number): string[] =>
      Array.from({ length: count }, () => queue.take()).flatMap((slice) =>
        slice ? names.get(slice.job)! : [],
      ),
  };
}

test('record texts get their share however many queries wait, and queries theirs during an import', () => {
  const { queue, add } = queueOf();
  const texts = { query: 0, passage: 0 };
  for (let at = 0; at < 200; at += 1) add('query', job('query', 1));
  add('import', job('passage', 4_000));
  for (let turn = 0; turn < 3_000; turn += 1) {
    const { job: taken, texts: of } = queue.take()!;
    texts[taken.kind] += of.length;
    // As 200 clients do: whoever has its answer asks again.
    if (taken.kind === 'query') add('query', job('query', 1));
  }
  const share = texts.passage / (texts.passage + texts.query);
  expect(share).toBeGreaterThan(0.24);
  expect(share).toBeLessThan(0.26);
});

test('what comes after a long time of the other kind is next, and does not make up for that time', () => {
  const { add, take } = queueOf();
  add('import', job('passage', 1_600));
  expect(take(50)).toEqual(Array(50).fill('import'));
  for (let at = 0; at < 200; at += 1) add('query', job('query', 1));
  const turns = take(100);
  expect(turns[0]).toBe('query');
  expect(turns).toContain('import');

  const queries = queueOf();
  for (let at = 0; at < 2_000; at += 1) queries.add('query', job('query', 1));
  queries.take(1_000);
  queries.add('record', job('passage', 1));
  expect(queries.take(2)).toContain('record');
});

test.each([
  ['query', 'passage'],
  ['passage', 'query'],
] as const)(
  'a long time of %s alone is not held against them once the others come first',
  (often, seldom) => {
    const { add, take } = queueOf();
    for (let at = 0; at < 10_000; at += 1) {
      add('before', job(often, 1));
      expect(take(1)).toEqual(['before']);
    }
    for (let at = 0; at < 500; at += 1) {
      add(seldom, job(seldom, 1));
      add(often, job(often, 1));
    }
    const turns = take(40);
    expect(turns.filter((name) => name === often).length).toBeGreaterThanOrEqual(9);
    expect(turns.filter((name) => name === seldom).length).toBeGreaterThanOrEqual(9);
  },
);

test('a single record does not wait for six imports of the same caller', () => {
  const { add, take } = queueOf();
  for (let at = 0; at < 6; at += 1) {
    const call = {};
    for (let batch = 0; batch < 4; batch += 1) add(`import ${at}`, job('passage', 256, 'a', call));
  }
  add('record', job('passage', 1));
  // Four imports have filled the queue: the record gets the room that the first of them makes.
  expect(take(7)).toContain('record');
});

test('callers take turns whatever each has waiting', () => {
  const { add, take } = queueOf();
  for (let at = 0; at < 200; at += 1) {
    add('many', job('query', 1, 'many'));
    add('many', job('passage', 1_000, 'many'));
  }
  take(10);
  add('one', job('query', 1, 'one'));
  add('one', job('passage', 1, 'one'));
  expect(take(100).filter((name) => name === 'one')).toHaveLength(2);

  const { add: enter, take: next } = queueOf();
  for (let at = 0; at < 200; at += 1) enter('many', job('query', 1, 'many'));
  enter('one', job('query', 1, 'one'));
  expect(next(2)).toContain('one');
});

test('the batches of a call keep their order', () => {
  const { add, take } = queueOf();
  const call = {};
  for (const name of ['first', 'second', 'third']) add(name, job('passage', 20, 'a', call));
  expect(take(6)).toEqual(['first', 'first', 'second', 'second', 'third', 'third']);
});

test('without room a job waits, and gets it as soon as there is some', () => {
  const { queue, add, take } = queueOf(32);
  const first = job('passage', 40);
  const second = job('passage', 1);
  expect(add('first', first)).toBe(true);
  expect(add('second', second)).toBe(false);
  // Another caller has room of its own.
  expect(add('other', job('passage', 1, 'b'))).toBe(true);
  expect(queue.waitsForRoom(second)).toBe(true);
  expect(queue.waiting).toBe(42);
  take(1);
  expect(queue.waitsForRoom(second)).toBe(false);
  queue.drop(first);
  expect(queue.waiting).toBe(2);
  expect(take(3).sort()).toEqual(['other', 'second']);
  expect(queue.waiting).toBe(0);
  expect(queue.take()).toBeUndefined();
});

test('what is dropped makes room', () => {
  const { queue, add, take } = queueOf(8);
  const jobs = Array.from({ length: 20 }, (_, at) => job('query', 4, 'a', { at }));
  for (const [at, each] of jobs.entries()) add(String(at), each);
  for (const each of jobs.slice(0, 19)) queue.drop(each);
  expect(queue.waiting).toBe(4);
  expect(take(2)).toEqual(['19']);
  for (const [at, each] of Array.from({ length: 5 }, () => job('query', 4)).entries())
    add(`again ${at}`, each);
  expect(queue.clear()).toHaveLength(5);
  expect(queue.waiting).toBe(0);
});

test('keys that one key issued share its turns and its room, and take turns among themselves', () => {
  const { add, take } = queueOf(100);
  expect(add('issued 1', job('passage', 64, 'a/b'))).toBe(true);
  // Beyond the limit of their issuer. A job enters as a whole.
  expect(add('issued 2', job('passage', 64, 'a/c'))).toBe(true);
  expect(add('issued 3', job('passage', 16, 'a/d'))).toBe(false);
  expect(add('issuer', job('passage', 16, 'a'))).toBe(false);
  expect(add('other', job('passage', 64, 'b'))).toBe(true);
  expect(take(4)).toEqual(['issued 1', 'other', 'issued 2', 'other']);
});

test('an issued key leaves a part of the room to its issuer', () => {
  const { add } = queueOf(100);
  expect(add('issued', job('passage', 75, 'a/b'))).toBe(true);
  expect(add('issued again', job('passage', 1, 'a/b'))).toBe(false);
  expect(add('issuer', job('passage', 25, 'a'))).toBe(true);
});
