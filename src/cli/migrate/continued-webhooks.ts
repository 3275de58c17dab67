import { type FeedEnd, readFeedToEnd } from '../../databases/index.js';
import { isCode } from '../../errors.js';
import type { StoredWebhook } from '../../server/webhooks/stored-webhook.js';
import type { ArchivedDatabase } from '../../store/archive/index.js';
import type { RecordStore } from '../../store/record-store.js';

const noop = async () => undefined;

/**
 * Returns the webhooks of a database as they go on in `target`: after their last delivered change. Where the target has
 * a feed of its own, one that has not delivered every change starts again after position 0.
 */
export async function continuedWebhooks(
  webhooks: readonly StoredWebhook[],
  database: string,
  source: RecordStore,
  target: RecordStore,
  hasFeed: boolean,
): Promise<StoredWebhook[]> {
  const [from, to] = [await endOf(source, database), await endOf(target, database)];
  const continued: StoredWebhook[] = [];
  for (const webhook of webhooks) {
    const isCurrent = await isOfFeed(source, database, webhook);
    if (hasFeed) continued.push(isCurrent ? { ...webhook, epoch: to.epoch } : webhook);
    else {
      const restarts = (webhook.restarts ?? 0) + 1;
      const isDone = isCurrent && webhook.position === from.position;
      const { position, epoch } = isDone ? to : { position: 0, epoch: undefined };
      continued.push({ ...webhook, position, epoch, feed: epoch, restarts });
    }
  }
  return continued;
}

function endOf(store: RecordStore, database: string): Promise<FeedEnd> {
  return readFeedToEnd(store, database, noop);
}

/** Whether the changes that a webhook delivered are those of the feed up to its position. */
async function isOfFeed(
  store: RecordStore,
  database: string,
  { position, epoch }: StoredWebhook,
): Promise<boolean> {
  try {
    await store.changes(database, { after: position, limit: 1, epoch });
    return true;
  } catch (error) {
    if (isCode(error, 'feed_restarted') || isCode(error, 'changes_removed')) return false;
    throw error;
  }
}

/**
 * Returns the webhooks of an archive as they go on in restored databases: after their last delivered change, in the new
 * epoch of their database. A webhook that was not at a position of its database starts again after position 0, because
 * its epoch is unknown.
 */
export function restoredWebhooks(
  webhooks: readonly StoredWebhook[],
  databases: readonly ArchivedDatabase[],
  epochs: ReadonlyMap<string, string>,
): StoredWebhook[] {
  const byId = new Map(databases.map((database) => [database.id, database]));
  return webhooks.map((webhook) => {
    const database = byId.get(webhook.database);
    if (database === undefined || !isAt(webhook, database)) return webhook;
    const epoch = epochs.get(webhook.database);
    // Positions after the backup occur again with other changes.
    return { ...webhook, epoch, feed: epoch, restarts: (webhook.restarts ?? 0) + 1 };
  });
}

/** Whether the changes that a webhook delivered are those of the database up to its position. */
function isAt({ epoch, position }: StoredWebhook, database: ArchivedDatabase): boolean {
  if (position > database.position) return false;
  const { epochs } = database;
  const index = epochs.findIndex((part) => part.epoch === epoch);
  const next = epochs[index + 1];
  return index >= 0 && (next === undefined || position <= next.after);
}
