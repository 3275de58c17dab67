import { FileWebhookStore } from './file-webhook-store.js';
import type { WebhookStore } from './webhook-store.js';

/**
 * Opens the webhooks of a service. This module alone chooses the implementation.
 *
 * @throws {CosiftError} `damaged` when the stored webhooks were changed by another program.
 */
export function openWebhookStore(dataDirectory: string): Promise<WebhookStore> {
  return FileWebhookStore.open(dataDirectory);
}
