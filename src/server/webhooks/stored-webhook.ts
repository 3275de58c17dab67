import type { DeliveryFailure } from '../../schema/index.js';

export interface StoredWebhook {
  webhook_id: string;
  database: string;
  url: string;
  secret: string;
  /** All changes up to this position of the feed are delivered. */
  position: number;
  /** The feed that `position` belongs to; absent until the feed was read for the first time. */
  epoch?: string | undefined;
  /** The epoch that posts have: the one that was read first, or first after a restart. */
  feed?: string | undefined;
  restarts?: number;
  /** Failed attempts of the next delivery, and why the last one failed; in a store that several processes use. */
  failures?: number;
  last_failure?: DeliveryFailure | undefined;
  created_at: string;
  /** The id of the key that created the webhook. */
  created_by: string;
  /** The id of the first key through which that key was issued, or its own. Limits count the webhook for this key. */
  counted_for: string;
}
