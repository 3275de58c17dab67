// A process for the cells of many databases, which count its threads and descriptors. Prints the cells as JSON.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openDataset, queryOf, SEED, THRESHOLD } from '../../data/dataset.js';
import { NONE } from '../../data/filters.js';
import { inTemporaryDirectory } from '../../paths.js';
import { Cosift } from '../../peers/adapters/cosift.js';
import { LIMIT } from '../session.js';
import { type CliffCell, compared } from './cliff.js';

const DATABASES = 200;
const UPSERTS = 800;
const SEARCHES = 400;
const KEY = { records: 1_000, dimensions: 384, seed: SEED };

process.stdout.write(JSON.stringify(await measured()));

async function measured(): Promise<readonly CliffCell[]> {
  const cells: CliffCell[] = [];
  const facts = { records: KEY.records, dimensions: KEY.dimensions };
  const data = openDataset(KEY);
  const more = openDataset({ ...KEY, records: KEY.records + 2 * UPSERTS + 2 });
  await inTemporaryDirectory(async (directory) => {
    const before = { threads: entries('task'), descriptors: entries('fd') };
    const first = new Cosift(2);
    try {
      await first.load(data, directory);
      const all = [first];
      for (let i = 1; i < DATABASES; i++) all.push(await first.beside(`small-${i}`, data));
      await first.settle();
      const loaded = bytesIn(directory);
      const write = (database: Cosift, at: number) =>
        database.upsert(more, data.records + at, data.records + at + 1);
      const writes = await compared(
        (round) => write(first, 2 * round + 2),
        (round) => write(all[(round + 1) % DATABASES] as Cosift, 2 * round + 3),
        UPSERTS,
        { goal_times: 3 },
      );
      await first.settle();
      const kept = {
        threads: entries('task') - before.threads,
        descriptors: entries('fd') - before.descriptors,
        times_disk: bytesIn(directory) / loaded,
        goal_threads: 40,
        goal_descriptors: 512,
        goal_times_disk: 1.2,
      };
      const request = { filter: NONE, threshold: THRESHOLD, limit: LIMIT, page: 0 };
      const searches = await compared(
        (round) => first.search(queryOf(data, (round + 64) % 64), request),
        (round) => (all[(round + 1) % DATABASES] as Cosift).search(queryOf(data, (round + 64) % 64), request),
        SEARCHES,
        { goal_times: 3 },
      );
      cells.push(
        { cell: `${DATABASES} databases after ${UPSERTS} upserts`, ...facts, values: kept },
        { cell: `upsert of one record to one of ${DATABASES}`, ...facts, values: writes },
        { cell: `search of one of ${DATABASES}`, ...facts, values: searches },
      );
    } finally {
      await first.close();
    }
  });
  return cells;
}

/** Entries of a directory that the kernel has for this process; NaN where there is no such directory. */
function entries(of: 'task' | 'fd'): number {
  try {
    return readdirSync(`/proc/self/${of}`).length;
  } catch {
    return Number.NaN;
  }
}

/** Bytes of all files in a directory and the directories in it. */
function bytesIn(directory: string): number {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return files.reduce((bytes, file) => bytes + statSync(join(file.parentPath, file.name)).size, 0);
}
