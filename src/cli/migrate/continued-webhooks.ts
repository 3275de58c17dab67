import { type FeedEnd, readFeedToEnd } from '../../backend/index.js';
import { isCode } from '../../errors.js';
import type { StoredWebhook } from '../../server/webhooks/stored-webhook.js';
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
