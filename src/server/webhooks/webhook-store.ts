import type { StoredWebhook } from './stored-webhook.js';

/** The webhooks of a service. Every change is durable when its promise resolves. */
export interface WebhookStore {
  /** Returns all webhooks, oldest first. */
  list(): Promise<StoredWebhook[]>;
  find(webhookId: string): Promise<StoredWebhook | undefined>;
  /** @throws {CosiftError} `busy` when the service or the database has as many webhooks as it may have. */
  add(webhook: StoredWebhook): Promise<void>;
  /**
   * Stores the position of a webhook. Returns false, and does nothing, for a webhook that was removed or that another
   * process delivers now.
   */
  update(webhook: StoredWebhook): Promise<boolean>;
  remove(webhookIds: readonly string[]): Promise<void>;
  /** Returns the webhooks that this process delivers: for each webhook, one process does. */
  lease(): Promise<StoredWebhook[]>;
  /** Absent in a store that one process uses. */
  readonly sharing?: Sharing;
  /** Leaves the webhooks to other processes. Resolves once no change is in progress. */
  close(): Promise<void>;
}

/** How the processes that use one store share the webhooks. */
export interface Sharing {
  /** How long a lease is valid, in milliseconds since its request. */
  leaseMs: number;
  /** How often a process takes its leases again, and those of processes that ended. */
  renewMs: number;
  /** Calls `onChange` after a process added or removed a webhook. */
  watch(onChange: () => void): void;
}
