import path from 'node:path';
import type { StoredWebhook } from './stored-webhook.js';
import { checkCapacity } from './webhook-capacity.js';
import { readWebhooks, writeWebhooks } from './webhook-file.js';
import type { WebhookStore } from './webhook-store.js';

/**
 * The webhooks in `webhooks.json` of a data directory.
 *
 * The store shares its objects with the callers, who change positions in place. So every write stores the latest
 * position of every webhook.
 */
export class FileWebhookStore implements WebhookStore {
  readonly #file: string;
  #webhooks: ReadonlyMap<string, StoredWebhook>;
  /** Resolves once the last change is written or has failed. */
  #lastChange: Promise<void> = Promise.resolve();

  private constructor(file: string, webhooks: readonly StoredWebhook[]) {
    this.#file = file;
    this.#webhooks = new Map(webhooks.map((webhook) => [webhook.webhook_id, webhook]));
  }

  /** @throws {CosiftError} `damaged` when the file was changed by another program. */
  static async open(dataDirectory: string): Promise<FileWebhookStore> {
    const file = path.join(dataDirectory, 'webhooks.json');
    return new FileWebhookStore(file, await readWebhooks(file));
  }

  async list(): Promise<StoredWebhook[]> {
    return [...this.#webhooks.values()];
  }

  async find(webhookId: string): Promise<StoredWebhook | undefined> {
    return this.#webhooks.get(webhookId);
  }

  add(webhook: StoredWebhook): Promise<void> {
    return this.#change((webhooks) => {
      checkCapacity(webhooks.values(), webhook);
      webhooks.set(webhook.webhook_id, webhook);
    });
  }

  async update(webhook: StoredWebhook): Promise<boolean> {
    let isKept = false;
    await this.#change((webhooks) => {
      isKept = webhooks.has(webhook.webhook_id);
      if (isKept) webhooks.set(webhook.webhook_id, webhook);
    });
    return isKept;
  }

  lease(): Promise<StoredWebhook[]> {
    return this.list();
  }

  remove(webhookIds: readonly string[]): Promise<void> {
    return this.#change((webhooks) => {
      for (const id of webhookIds) webhooks.delete(id);
    });
  }

  close(): Promise<void> {
    return this.#lastChange;
  }

  /** Changes the webhooks and writes the file. One change at a time; a change that fails has no effect. */
  #change(change: (webhooks: Map<string, StoredWebhook>) => void): Promise<void> {
    const changed = this.#lastChange.then(async () => {
      const webhooks = new Map(this.#webhooks);
      change(webhooks);
      await writeWebhooks(this.#file, [...webhooks.values()]);
      this.#webhooks = webhooks;
    });
    // The next change runs also after a change that failed.
    this.#lastChange = changed.catch(() => undefined);
    return changed;
  }
}
