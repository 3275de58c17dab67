import { FileWebhookStore } from './file-webhook-store.js';
import type { WebhookStore } from './webhook-store.js';

/**
 * Opens the webhooks of a service on a data directory.
 *
 * @throws {CosiftError} `damaged` when the stored webhooks were changed by another program.
 */
export function openWebhookStore(dataDirectory: string): Promise<WebhookStore> {
  return FileWebhookStore.open(dataDirectory);
}
