import type { DatabaseService } from '../../databases/index.js';
import { CosiftError } from '../../errors.js';
import { type Changes, parseJson } from '../../schema/index.js';
import type { StoredWebhook } from './stored-webhook.js';

/** Number of changes per read while looking for the end of a feed. */
const BATCH = 1000;

/**
 * Returns the position at which a new webhook starts: `after`, or the current end of the feed.
 *
 * @throws {CosiftError} `database_not_found`; `changes_removed` when changes after `after` are no longer kept.
 */
export async function startPosition(
  databases: DatabaseService,
  database: string,
  after: number | undefined,
): Promise<Pick<StoredWebhook, 'position' | 'epoch'>> {
  let position = after ?? 0;
  for (;;) {
    try {
      const feed = await readFeed(databases, database, { after: position, limit: BATCH, waitMs: 0 });
      if (after !== undefined) return { position: after, epoch: feed.epoch };
      position = feed.position;
      if (!feed.has_more) return { position, epoch: feed.epoch };
    } catch (error) {
      const start = restartPosition(error);
      if (after !== undefined || start === undefined) throw error;
      position = start;
    }
  }
}

/** Returns the position to read from when `error` says that the feed cannot be continued; undefined for other errors. */
export function restartPosition(error: unknown): number | undefined {
  if (!(error instanceof CosiftError)) return undefined;
  if (error.code === 'feed_restarted') return 0;
  return error.code === 'changes_removed' ? Number(error.fields.after) : undefined;
}

export async function readFeed(
  databases: DatabaseService,
  database: string,
  request: Parameters<DatabaseService['feed']['read']>[1],
  signal?: AbortSignal,
): Promise<Changes> {
  const body = await databases.feed.read(database, request, { ...(signal && { signal }) });
  return parseJson(body);
}
