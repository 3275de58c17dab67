import { CosiftError } from '../../errors.js';
import { ADMIN } from '../keys/caller.js';
import type { StoredWebhook } from './stored-webhook.js';

/** Webhooks of a service: each of them follows a feed and holds a connection. */
const MAX_WEBHOOKS = 100;

/** Webhooks of the service beyond {@link MAX_WEBHOOKS} that the admin key may create. */
const RESERVED_FOR_ADMIN = 25;

/** Webhooks of one database, so that other databases can have some, too; and of one key and the keys it issued. */
const MAX_OF_ONE = 75;

/**
 * Checks that there is room for one more webhook.
 *
 * @throws {CosiftError} `busy`
 */
export function checkCapacity(webhooks: Iterable<StoredWebhook>, added: StoredWebhook): void {
  const all = [...webhooks];
  const isAdmin = added.counted_for === ADMIN.keyId;
  const max = MAX_WEBHOOKS + (isAdmin ? RESERVED_FOR_ADMIN : 0);
  if (all.length >= max) throw new CosiftError('busy', `there are ${max} webhooks already`);
  if (all.filter(({ database }) => database === added.database).length >= MAX_OF_ONE) {
    throw new CosiftError('busy', `database "${added.database}" has ${MAX_OF_ONE} webhooks already`);
  }
  if (!isAdmin && all.filter(({ counted_for }) => counted_for === added.counted_for).length >= MAX_OF_ONE) {
    const detail = `this key and the keys of the same issuer have ${MAX_OF_ONE} webhooks already`;
    throw new CosiftError('busy', detail);
  }
}
