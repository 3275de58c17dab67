import type { StoredWebhook } from './stored-webhook.js';

/** The webhooks of a service. Every change is durable when its promise resolves. */
export interface WebhookStore {
  /** Returns all webhooks, oldest first. */
  list(): Promise<StoredWebhook[]>;
  find(webhookId: string): Promise<StoredWebhook | undefined>;
  /** @throws {CosiftError} `busy` when the service or the database has as many webhooks as it may have. */
  add(webhook: StoredWebhook): Promise<void>;
  /** Stores the position of a webhook. Does nothing for a webhook that was removed. */
  update(webhook: StoredWebhook): Promise<void>;
  remove(webhookIds: readonly string[]): Promise<void>;
  /** Resolves once no change is in progress. */
  close(): Promise<void>;
}
