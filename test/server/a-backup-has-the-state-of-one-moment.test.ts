import { expect, test } from 'vitest';
import { restore } from '../../src/cli/restore/restore.js';
import { Client } from '../../src/client/index.js';
import type { Database } from '../../src/index.js';
import { open } from '../../src/index.js';
import { bytesOf, chunked, entriesOf, manifestOf, testDirectory } from '../helpers/archives.js';
import { Service } from './service.js';

const WRITERS = 4;
const PER_BATCH = 25;
/** Ids of a writer. */
const RANGE = 1_000_000;

/** Writes batch after batch to `causes`, and each batch that was acknowledged there to `effects`. */
async function write(writer: number, causes: Database, effects: Database, state: State): Promise<void> {
  const counter = (writer + 1) * RANGE;
  for (let n = 1; !state.stopped; n++) {
    const records = Array.from({ length: PER_BATCH }, (_, i) => {
      const id = counter + (n - 1) * PER_BATCH + i + 1;
      return { id, data: { n, text: `record ${id}` }, vector: [1, id] };
    });
    const batch = [...records, { id: counter, data: { n, text: 'counter' }, vector: [1, 0] }];
    await causes.upsert(batch);
    await effects.upsert(batch);
    state.acknowledged[writer] = n;
  }
}

interface State {
  /** The last batch of each writer that was acknowledged by both databases. */
  acknowledged: number[];
  stopped: boolean;
}

interface Row {
  id: number;
  data: unknown;
}

async function rowsOf(database: Database): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const { id, data } of database.queryAll({ limit: 100 })) rows.push({ id, data });
  return rows.sort((a, b) => a.id - b.id);
}

/** Checks that the batches of a writer are complete from the first to the last, which is returned. */
function lastBatch(writer: number, rows: readonly Row[]): number {
  const counter = (writer + 1) * RANGE;
  const [own, ...records] = rows.filter(({ id }) => id >= counter && id < counter + RANGE);
  if (own === undefined) return 0;
  const { n } = own.data as { n: number };
  expect(own).toEqual({ id: counter, data: { n, text: 'counter' } });
  const expected = Array.from({ length: n * PER_BATCH }, (_, i) => {
    const id = counter + i + 1;
    return { id, data: { n: Math.floor(i / PER_BATCH) + 1, text: `record ${id}` } };
  });
  expect(records).toEqual(expected);
  return n;
}

test('all acknowledged writes before the request are in a backup, and no effect without its cause', async () => {
  const service = await Service.start();
  const client = new Client({ url: service.url, key: service.adminKey });
  const causes = await client.createDatabase('causes', { dimensions: 2 });
  const effects = await client.createDatabase('effects', { dimensions: 2 });
  const state: State = { acknowledged: Array.from({ length: WRITERS }, () => 0), stopped: false };
  const writers = state.acknowledged.map((_, writer) => write(writer, causes, effects, state));

  const backups: { before: number[]; archive: Buffer }[] = [];
  while (backups.length < 3) {
    const reached = state.acknowledged.map((n) => n + 3);
    while (state.acknowledged.some((n, writer) => n < (reached[writer] as number))) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    const before = [...state.acknowledged];
    backups.push({ before, archive: await bytesOf(client.backup()) });
  }
  state.stopped = true;
  await Promise.all(writers);
  const history = new Map<string, Map<number, number>>();
  for (const database of [causes, effects]) {
    const created = new Map<number, number>();
    for (let after = 0, more = true; more; ) {
      const page = await database.changes({ after, limit: 1000 });
      for (const { kind, id, position } of page.changes) if (kind === 'created') created.set(id, position);
      after = page.position;
      more = page.has_more;
    }
    history.set(database.id, created);
  }
  await service.stop();

  for (const { before, archive } of backups) {
    const directory = await testDirectory();
    const manifest = await restore(chunked(archive), directory);
    expect(manifest).toEqual(manifestOf(await entriesOf(archive)));
    const cosift = await open(directory);
    const rows = {
      causes: await rowsOf(cosift.database('causes')),
      effects: await rowsOf(cosift.database('effects')),
    };
    await cosift.close();
    for (const writer of before.keys()) {
      const cause = lastBatch(writer, rows.causes);
      const effect = lastBatch(writer, rows.effects);
      expect(effect).toBeGreaterThanOrEqual(before[writer] as number);
      expect(cause).toBeGreaterThanOrEqual(effect);
      expect(cause).toBeLessThanOrEqual(effect + 1);
    }
    for (const { id, records, position } of manifest.databases) {
      const created = [...(history.get(id) ?? [])].filter(([, at]) => at <= position).map(([id]) => id);
      const restored = rows[id as 'causes' | 'effects'].map(({ id }) => id);
      expect(restored).toEqual(created.sort((a, b) => a - b));
      expect(restored).toHaveLength(records);
    }
  }
});
