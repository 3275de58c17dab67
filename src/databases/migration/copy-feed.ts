import { CosiftError } from '../../errors.js';
import { type Change, type Changes, parseJson } from '../../schema/index.js';
import type { MigrationSupport } from '../../store/migration-support.js';
import type { RecordStore } from '../../store/record-store.js';

/** Changes of one read. */
const BATCH = 1_000;

export interface FeedEnd {
  position: number;
  epoch: string;
}

/** Reads a change feed to its end. `onChanges` gets the kept changes, and the position of the last one that is not. */
export async function readFeedToEnd(
  store: RecordStore,
  database: string,
  onChanges: (changes: readonly Change[], removed: number) => Promise<void>,
): Promise<FeedEnd> {
  let removed = 0;
  for (let position = 0; ; ) {
    try {
      const read = { after: position, limit: BATCH };
      const feed = parseJson<Changes>(await store.changes(database, read));
      if (feed.changes.length > 0) await onChanges(feed.changes, removed);
      position = feed.position;
      if (!feed.has_more) return { position, epoch: feed.epoch };
    } catch (error) {
      if (!(error instanceof CosiftError) || error.code !== 'changes_removed') throw error;
      removed = Number(error.fields.after);
      position = removed;
    }
  }
}

/** Continues the change feed of `source` in `target`, so that followers go on after their position. */
export async function copyFeed(
  source: RecordStore,
  target: MigrationSupport,
  database: string,
): Promise<void> {
  const changes: Change[] = [];
  const end = await readFeedToEnd(source, database, async (read) => {
    changes.push(...read);
  });
  const { times } = await source.describeDatabase(database);
  await target.adoptFeed(database, { ...end, changes, times, nextId: await source.nextId(database) });
}
