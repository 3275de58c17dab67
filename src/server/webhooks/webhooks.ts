import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { Backend } from '../../backend/backend.js';
import { CosiftError } from '../../errors.js';
import type { Changes, CreatedWebhook, WebhookDescription, WebhookRequest } from '../../schema/index.js';
import { readIfThere, writeSecret } from '../keys/key-file.js';
import type { Logger } from '../services.js';
import { makeSecret } from './signature.js';
import { type DeliveryTimes, type StoredWebhook, Webhook } from './webhook.js';

export const DELIVERY_TIMES: DeliveryTimes = { answerMs: 10_000, firstRetryMs: 1000, lastRetryMs: 600_000 };

// Each one follows a feed and holds a connection.
const MOST_WEBHOOKS = 100;

/** The webhooks of a data directory, kept in `webhooks.json` with the position that each has come to. */
export class Webhooks {
  readonly #file: string;
  readonly #backend: Backend;
  readonly #times: DeliveryTimes;
  readonly #kept: StoredWebhook[];
  #log: Logger | undefined;
  readonly #live = new Map<string, { webhook: Webhook; done: Promise<void> }>();
  #lastWrite: Promise<void> = Promise.resolve();

  private constructor(file: string, backend: Backend, times: DeliveryTimes, kept: StoredWebhook[]) {
    this.#file = file;
    this.#backend = backend;
    this.#times = times;
    this.#kept = kept;
  }

  /** Reads the webhooks of a directory. */
  static async open(
    dataDirectory: string,
    backend: Backend,
    times: DeliveryTimes = DELIVERY_TIMES,
  ): Promise<Webhooks> {
    const file = path.join(dataDirectory, 'webhooks.json');
    const text = await readIfThere(file);
    const kept = text === undefined ? [] : (JSON.parse(text) as { webhooks: StoredWebhook[] }).webhooks;
    return new Webhooks(file, backend, times, kept);
  }

  /** Starts to deliver, each webhook from where it had come to. */
  start(log: Logger): void {
    this.#log = log;
    for (const stored of this.#kept.splice(0)) this.#begin(stored);
  }

  async create(database: string, { url, after }: WebhookRequest): Promise<CreatedWebhook> {
    if (!URL.canParse(url)) {
      const detail = 'is not a URL';
      throw new CosiftError('invalid_request', `/url: ${detail}`, {
        problems: [{ pointer: '/url', detail }],
      });
    }
    if (this.#live.size >= MOST_WEBHOOKS) {
      throw new CosiftError('busy', `there are ${MOST_WEBHOOKS} webhooks already`);
    }
    const stored: StoredWebhook = {
      webhook_id: randomBytes(6).toString('hex'),
      database,
      url,
      secret: makeSecret(),
      position: await this.#startOf(database, after),
      created_at: new Date().toISOString(),
    };
    const webhook = this.#begin(stored);
    await this.#save();
    return { ...webhook.describe(), secret: stored.secret };
  }

  list(database: string): WebhookDescription[] {
    return [...this.#live.values()]
      .filter(({ webhook }) => webhook.stored.database === database)
      .map(({ webhook }) => webhook.describe());
  }

  async delete(database: string, webhookId: string): Promise<void> {
    const found = this.#live.get(webhookId);
    if (found === undefined || found.webhook.stored.database !== database) {
      throw new CosiftError('webhook_not_found', `there is no webhook "${webhookId}"`);
    }
    this.#live.delete(webhookId);
    found.webhook.stop();
    await Promise.all([found.done, this.#save()]);
  }

  /** Stops every delivery; what was not taken is delivered after the next start. */
  async close(): Promise<void> {
    const live = [...this.#live.values()];
    for (const { webhook } of live) webhook.stop();
    await Promise.all(live.map(({ done }) => done));
    await this.#lastWrite;
  }

  #begin(stored: StoredWebhook): Webhook {
    const webhook = new Webhook(stored, this.#backend, this.#times, this.#log);
    const done = webhook
      .run(() => this.#save())
      .then(async (end) => {
        if (end === 'stopped') return;
        this.#live.delete(stored.webhook_id);
        await this.#save();
      });
    // Only the file can fail here; the next start delivers again what it had not noted.
    const logged = done.catch((error: unknown) => this.#log?.error({ err: error }, 'cannot keep webhooks'));
    this.#live.set(stored.webhook_id, { webhook, done: logged });
    return webhook;
  }

  /** `after`, or where the feed ends now; both only of a database that is there. */
  async #startOf(database: string, after: number | undefined): Promise<number> {
    let position = after ?? 0;
    for (;;) {
      const body = await this.#backend.changes(database, { after: position, limit: 1000, waitMs: 0 }, {});
      if (after !== undefined) return after;
      const feed = JSON.parse(Buffer.from(body).toString('utf8')) as Changes;
      position = feed.position;
      if (!feed.has_more) return position;
    }
  }

  #save(): Promise<void> {
    const write = this.#lastWrite.then(() => {
      const webhooks = [...this.#live.values()].map(({ webhook }) => webhook.stored);
      return writeSecret(this.#file, `${JSON.stringify({ version: 1, webhooks }, null, 2)}\n`);
    });
    // The next write must go on after one that failed.
    this.#lastWrite = write.catch(() => undefined);
    return write;
  }
}
