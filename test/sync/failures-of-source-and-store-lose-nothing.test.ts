import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as otherWork } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DatabaseService, openDatabases, type SyncTarget } from '../../src/databases/index.js';
import { CosiftError } from '../../src/errors.js';
import { Sync } from '../../src/sync/index.js';
import type { Round, SyncSource } from '../../src/sync/source.js';
import { syncPass } from '../../src/sync/sync-pass.js';
import { inFull } from '../helpers/full.js';
import { Random } from '../helpers/random.js';
import { RowSource } from '../helpers/row-source.js';

/** The content of a source: numbers by key, of which the negative ones cannot become records. */
type Content = ReadonlyMap<string, number>;

/** A source with versions. A round reads the newest one, in batches of a few rows, while writers go on. */
class VersionedSource implements SyncSource {
  readonly versions: Content[] = [new Map()];
  readonly #random: Random;
  readonly #fails: () => void;
  /** Runs between the batches of a round. */
  readonly #between: () => void;

  constructor(random: Random, fails: () => void, between: () => void) {
    this.#random = random;
    this.#fails = fails;
    this.#between = between;
  }

  get newest(): Content {
    return this.versions.at(-1)!;
  }

  async shape() {
    this.#fails();
    return { identity: 'versions', columns: [], key: ['key'], notices: [] };
  }

  async round(bookmark: Readonly<Record<string, unknown>> | null, whole: boolean): Promise<Round | null> {
    this.#fails();
    const version = this.versions.length - 1;
    const since = bookmark === null ? undefined : Number(bookmark.version);
    if (!whole && since === version) return null;
    const before = since === undefined || whole ? undefined : this.versions[since]!;
    const now = this.newest;
    const kind = before === undefined ? 'complete' : this.#random.chance(50) ? 'changes' : 'keys';
    const changed = [...now].filter(([key, value]) => before?.get(key) !== value);
    const gone = kind === 'changes' ? [...before!.keys()].filter((key) => !now.has(key)) : [];
    const [fails, between] = [this.#fails, this.#between];
    const batches = async function* () {
      for (let at = 0; at < changed.length || at < gone.length; at += 7) {
        fails();
        const part = changed.slice(at, at + 7);
        yield {
          // A list of lists is no value of a column.
          rows: part.map(([key, n]) => ({ key, data: { n: n < 0 ? ([[n]] as never) : n } })),
          gone: gone.slice(at, at + 7),
        };
        between();
      }
      fails();
    };
    const keys = async function* () {
      const all = [...now.keys()].sort();
      for (let at = 0; at < all.length; at += 7) {
        fails();
        yield all.slice(at, at + 7);
      }
      fails();
    };
    // The moment of a version is its number.
    const readAt = new Date(version);
    return {
      kind,
      readAt,
      batches: batches(),
      ...(kind === 'keys' && { keys: keys() }),
      bookmark: () => ({ version }),
      close: async () => undefined,
    };
  }

  async close(): Promise<void> {}
}

/** Mistakes that a pipeline could make, in its calls of the store. The schedules must find each of them. */
const MISTAKES = {
  'it takes a round that was interrupted for a complete one': (target: SyncTarget): SyncTarget => ({
    ...target,
    upsert: (chunks, readAt, options) => {
      const untilFailure = async function* () {
        try {
          yield* chunks;
        } catch {
          // The end, for all that the caller knows.
        }
      };
      return target.upsert(untilFailure(), readAt, options);
    },
  }),
  'it stores the bookmark before the records': (target: SyncTarget, source: VersionedSource): SyncTarget => ({
    ...target,
    upsert: async function* (chunks, readAt, options) {
      const before = JSON.parse((await target.state()).state ?? 'null');
      const bookmark = { version: source.versions.length - 1 };
      const text = JSON.stringify({ ...before, bookmark, incomplete: false });
      if (before !== null) await target.remove({ ids: [], state: { name: 'model', text } }, options);
      yield* target.upsert(chunks, readAt, options);
    },
  }),
  'it continues at the bookmark after a round that was interrupted': (target: SyncTarget): SyncTarget => ({
    ...target,
    state: async (request) => {
      const found = await target.state(request);
      if (found.state === null) return found;
      const { records } = found;
      return { ...found, state: JSON.stringify({ ...JSON.parse(found.state), records, incomplete: false }) };
    },
  }),
  'it stores the bookmark and not the deletions': (target: SyncTarget): SyncTarget => ({
    ...target,
    remove: (deletion, options) => target.remove({ ids: [], state: deletion.state! }, options),
  }),
  'a refused row keeps its former record': (target: SyncTarget, source: VersionedSource): SyncTarget => ({
    ...target,
    remove: (deletion, options) =>
      target.remove(
        'ids' in deletion && deletion.ids
          ? {
              ...deletion,
              ids: deletion.ids.filter(
                (id) => !((source.newest.get(String(id).slice('key:model/'.length)) ?? 0) < 0),
              ),
            }
          : deletion,
        options,
      ),
  }),
  'it deletes what others own': (target: SyncTarget): SyncTarget => ({
    ...target,
    remove: (deletion, options) =>
      target.remove(
        'unwritten' in deletion
          ? { ...deletion, unwritten: { version: deletion.unwritten.version } }
          : deletion,
        options,
      ),
  }),
};

let directory: string;
let databases: DatabaseService;
beforeAll(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'cosift-sync-'));
  const model = {
    dimensions: 2,
    fingerprint: 'm',
    embed: (texts: readonly string[]) => texts.map(() => [1, 0]),
  };
  databases = await openDatabases({ directory, models: { model } });
});
afterAll(async () => {
  await databases?.close();
  rmSync(directory, { recursive: true, force: true });
});

let created = 0;

/** Runs passes on a random schedule. Throws when the records are not those of the moment that a pass names. */
async function runSchedule(
  seed: number,
  mistake: (target: SyncTarget, source: VersionedSource) => SyncTarget,
) {
  const random = new Random(seed);
  const id = `db-${created++}`;
  await databases.catalog.create(id, { model: 'model' });
  await databases.writer.upsertBatch(id, Buffer.from('{"records":[{"key":"other","data":{"n":0}}]}'));
  let mayFail = true;
  const failure = () =>
    random.chance(50) ? new CosiftError('source_unavailable', 'a test') : new CosiftError('busy', 'a test');
  const fails = () => {
    if (mayFail && random.chance(6)) throw failure();
  };
  const write = () => {
    const next = new Map(source.newest);
    for (let i = 1 + random.below(4); i > 0; i--) {
      const key = `k${random.below(30)}`;
      // A row may become again what it was.
      const former = source.versions.at(-1 - random.below(3))?.get(key);
      if (random.chance(25)) next.delete(key);
      else if (former !== undefined && random.chance(50)) next.set(key, former);
      else next.set(key, random.chance(20) ? -1 - random.below(9) : random.below(9));
      // A key changes.
      const other = `k${random.below(30)}`;
      const value = next.get(other);
      if (value !== undefined && random.chance(20)) {
        next.delete(other);
        next.set(`${other}/new`, value);
      }
    }
    source.versions.push(next);
  };
  const source = new VersionedSource(random, fails, () => random.chance(30) && write());
  const target = databases.writer.openSync(id, 'model');
  /** Fails before the call, or after it took effect. */
  const failing =
    <A extends unknown[], T>(call: (...given: A) => Promise<T>) =>
    async (...given: A): Promise<T> => {
      fails();
      const result = await call(...given);
      fails();
      return result;
    };
  const faulty = mistake(
    {
      ...target,
      state: failing(target.state),
      remove: failing(target.remove),
      upsert: async function* (...given) {
        for await (const event of target.upsert(...given)) {
          yield event;
          fails();
        }
      },
    },
    source,
  );
  let complete = 0;
  try {
    for (let pass = 0; pass < 25; pass++) {
      if (random.chance(80)) write();
      // The last pass meets no failure.
      mayFail = pass < 24;
      try {
        const { signal } = new AbortController();
        const isConfirmed = random.chance(30);
        const options = {
          name: 'model',
          maxDeletes: 1_000,
          confirmed: isConfirmed ? Number.POSITIVE_INFINITY : 0,
          whole: random.chance(10) || isConfirmed,
          signal,
          onProgress: () => undefined,
        };
        const passed = await syncPass(source, faulty, options);
        if (passed.counts.withheld > 0) continue;
        complete += 1;
        // A round that was null has the newest version.
        const version = passed.asOf.getTime() < source.versions.length ? passed.asOf.getTime() : -1;
        const expected = [...source.versions.at(version)!];
        const lines: string[] = [];
        for await (const chunk of databases.exports.lines(id, {})) lines.push(Buffer.from(chunk).toString());
        const records = lines
          .join('')
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line));
        const found = Object.fromEntries(records.map(({ key, data }) => [key, data.n]));
        const valid = expected.filter(([, n]) => n >= 0).map(([key, n]) => [`model/${key}`, n]);
        expect(found).toEqual({ ...Object.fromEntries(valid), other: 0 });
        const { refused } = JSON.parse((await target.state()).state!);
        const refusedKeys = refused.rows.map(({ key }: { key: string }) => key).sort();
        expect(refusedKeys).toEqual(expected.flatMap(([key, n]) => (n < 0 ? [key] : [])).sort());
      } catch (error) {
        if (!(error instanceof CosiftError)) throw error;
        if (!mayFail) throw error;
      }
    }
  } finally {
    target.release();
    await databases.catalog.drop(id);
  }
  return complete;
}

test('after each complete pass, the records are the rows of its moment', async () => {
  let complete = 0;
  const schedules = inFull(150, 12);
  for (let seed = 1; seed <= schedules; seed++) complete += await runSchedule(seed, (target) => target);
  // Most passes meet a failure.
  expect(complete).toBeGreaterThan(3 * schedules);
});

test.each(Object.entries(MISTAKES))('the schedules find that %s', async (_, mistake) => {
  const find = async () => {
    for (let seed = 1; seed <= 25; seed++) await runSchedule(seed, mistake);
  };
  await expect(find()).rejects.toThrow('to deeply equal');
});

test('a sync goes on after it could not ask whether the source has changed', async () => {
  await databases.catalog.create('looks', { model: 'model' });
  const target = databases.writer.openSync('looks', 'look');
  let holds = 0;
  const failing: SyncTarget = {
    ...target,
    hold: async (signal) => {
      holds += 1;
      // The first one is that of a pass.
      if (holds === 2) throw new CosiftError('store_failed', 'the store cannot be reached');
      return await target.hold(signal);
    },
  };
  const source = Object.assign(new RowSource([]), { hasChanged: async () => false });
  const sync = new Sync(source, failing, { name: 'look', everyMs: 200 });
  while (source.asked.length < 3) await otherWork();
  await sync.close();
  await databases.catalog.drop('looks');
});

test.each([
  ['completes while each attempt stores more', true],
  ['gives up after ten attempts that store no more', false],
])('a pass %s', async (_, advances) => {
  await databases.catalog.create('flaky', { model: 'model' });
  const source = new RowSource([{ key: '0', data: {} }]);
  let [attempts, stored] = [0, 0];
  source.afterRows = async () => {
    while (stored < source.rows.length) await otherWork();
    attempts += 1;
    if (attempts > 20) return;
    if (advances) source.rows.push({ key: `${attempts}`, data: {} });
    stored = 0;
    throw new CosiftError('source_unavailable', 'the connection was lost');
  };
  const sync = new Sync(source, databases.writer.openSync('flaky', 'flaky'), {
    name: 'flaky',
    onProgress: ({ rows }) => {
      stored = rows;
    },
    // A call ends the pause before the next attempt.
    onAttempt: (counts) => {
      if (counts === undefined) setImmediate(() => sync.once().catch(() => undefined));
    },
  });
  const made = sync.once().then(
    () => 'complete',
    (error: unknown) => (error as Error).message,
  );
  expect(await made).toBe(advances ? 'complete' : 'the connection was lost');
  expect(attempts).toBe(advances ? 21 : 10);
  await sync.close();
  await databases.catalog.drop('flaky');
});
