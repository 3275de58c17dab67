import { CosiftError } from '../../errors.js';
import type { StoredWebhook } from './stored-webhook.js';

/** Webhooks of a service: each of them follows a feed and holds a connection. */
const MAX_WEBHOOKS = 100;

/** Webhooks of one database, so that other databases can have some, too. */
const MAX_OF_DATABASE = 75;

/**
 * Checks that there is room for one more webhook of a database.
 *
 * @throws {CosiftError} `busy`
 */
export function checkCapacity(webhooks: Iterable<StoredWebhook>, database: string): void {
  const all = [...webhooks];
  if (all.length >= MAX_WEBHOOKS) {
    throw new CosiftError('busy', `there are ${MAX_WEBHOOKS} webhooks already`);
  }
  if (all.filter((other) => other.database === database).length >= MAX_OF_DATABASE) {
    throw new CosiftError('busy', `database "${database}" has ${MAX_OF_DATABASE} webhooks already`);
  }
}
