import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { Backend } from '../../backend/backend.js';
import { AddressPolicy } from '../../config/index.js';
import { CosiftError, type Problem } from '../../errors.js';
import type { Changes, CreatedWebhook, WebhookDescription, WebhookRequest } from '../../schema/index.js';
import type { Logger } from '../observability/logger.js';
import { makeSecret } from './signature.js';
import { type Delivery, type DeliveryTimes, type StoredWebhook, startAfter, Webhook } from './webhook.js';
import { openWebhooks, writeWebhooks } from './webhook-file.js';

export const DELIVERY_TIMES: DeliveryTimes = { answerMs: 10_000, firstRetryMs: 1000, lastRetryMs: 600_000 };

// Each one follows a feed and holds a connection.
const MAX_WEBHOOKS = 100;

/** Webhooks of one database: none takes the room of all others. */
const MAX_OF_DATABASE = 75;

/** How long a stop waits for the responses to posts that are under way. */
const STOP_MS = 1000;

export interface WebhookOptions {
  times?: DeliveryTimes | undefined;
  /** Addresses, CIDR ranges and host names that webhooks may reach although they are not public. */
  allow?: readonly string[];
  /** See {@link Delivery}. Default: every key is. */
  isAllowed?: Delivery['isAllowed'];
}

/** The webhooks of a data directory, kept in `webhooks.json` with the position that each has come to. */
export class Webhooks {
  readonly #file: string;
  readonly #delivery: Delivery;
  /** What the file holds, but for the positions, which run ahead of it. */
  #kept: ReadonlyMap<string, StoredWebhook>;
  #log: Logger | undefined;
  readonly #live = new Map<string, { webhook: Webhook; done: Promise<void> }>();
  #lastWrite: Promise<void> = Promise.resolve();

  private constructor(file: string, delivery: Delivery, kept: readonly StoredWebhook[]) {
    this.#file = file;
    this.#delivery = delivery;
    this.#kept = new Map(kept.map((stored) => [stored.webhook_id, stored]));
  }

  /** Reads the webhooks of a directory. Throws `damaged` where their file was changed. */
  static async open(
    dataDirectory: string,
    backend: Backend,
    { times = DELIVERY_TIMES, allow = [], isAllowed = async () => true }: WebhookOptions = {},
  ): Promise<Webhooks> {
    const file = path.join(dataDirectory, 'webhooks.json');
    const delivery = { backend, times, policy: new AddressPolicy(allow), isAllowed };
    return new Webhooks(file, delivery, await openWebhooks(file));
  }

  /** Starts to deliver, each webhook from where it had come to. */
  start(log: Logger): void {
    this.#log = log;
    for (const stored of this.#kept.values()) this.#begin(stored);
  }

  /** `creator` is the id of a key: the webhook ends with it. */
  async create(database: string, { url, after }: WebhookRequest, creator: string): Promise<CreatedWebhook> {
    if (!URL.canParse(url)) throw invalidUrl('is not a URL');
    const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
    if (this.#delivery.policy.refusesHost(host)) {
      throw invalidUrl(
        `${host} is not a public address; webhooks reach it where the setting webhook_allow of the service lists it`,
      );
    }
    const stored: StoredWebhook = {
      webhook_id: randomBytes(6).toString('hex'),
      database,
      url,
      secret: makeSecret(),
      ...(await this.#startOf(database, after)),
      created_at: new Date().toISOString(),
      created_by: creator,
    };
    await this.#replace((kept) => {
      if (kept.size >= MAX_WEBHOOKS) {
        throw new CosiftError('busy', `there are ${MAX_WEBHOOKS} webhooks already`);
      }
      const same = [...kept.values()].filter((other) => other.database === database);
      if (same.length >= MAX_OF_DATABASE) {
        throw new CosiftError('busy', `database "${database}" has ${MAX_OF_DATABASE} webhooks already`);
      }
      kept.set(stored.webhook_id, stored);
    });
    return { ...this.#begin(stored).describe(), secret: stored.secret };
  }

  list(database: string): WebhookDescription[] {
    return [...this.#live.values()]
      .filter(({ webhook }) => webhook.stored.database === database)
      .map(({ webhook }) => webhook.describe());
  }

  async delete(database: string, webhookId: string): Promise<void> {
    if (this.#kept.get(webhookId)?.database !== database) {
      throw new CosiftError('webhook_not_found', `there is no webhook "${webhookId}"`);
    }
    await this.#replace((kept) => kept.delete(webhookId));
    await this.#end(webhookId);
  }

  /** Ends the webhooks of a database that was dropped: nothing more of it is delivered. */
  async endOf(database: string): Promise<void> {
    const ids = [...this.#kept.values()]
      .filter((stored) => stored.database === database)
      .map(({ webhook_id }) => webhook_id);
    if (ids.length === 0) return;
    await Promise.all(ids.map((id) => this.#end(id)));
    try {
      await this.#replace((kept) => {
        for (const id of ids) kept.delete(id);
      });
    } catch (error) {
      // The database is gone, so its drop has succeeded; the next start finds no database and removes them.
      this.#log?.error({ err: error, database }, 'cannot keep webhooks');
    }
  }

  /** Stops every delivery, within a second; what was not taken is delivered after the next start. */
  async close(): Promise<void> {
    const live = [...this.#live.values()];
    for (const { webhook } of live) webhook.stop();
    const timer = setTimeout(() => {
      for (const { webhook } of live) webhook.cut();
    }, STOP_MS);
    await Promise.all(live.map(({ done }) => done));
    clearTimeout(timer);
    await this.#lastWrite;
  }

  #begin(stored: StoredWebhook): Webhook {
    const webhook = new Webhook(stored, this.#delivery, this.#log);
    const done = webhook
      .run(() => this.#replace(() => undefined))
      .then(async (end) => {
        if (end === 'stopped') return;
        this.#live.delete(stored.webhook_id);
        await this.#replace((kept) => kept.delete(stored.webhook_id));
      });
    // Only the file can fail here; the next start delivers again what it had not noted.
    const logged = done.catch((error: unknown) => this.#log?.error({ err: error }, 'cannot keep webhooks'));
    this.#live.set(stored.webhook_id, { webhook, done: logged });
    return webhook;
  }

  async #end(webhookId: string): Promise<void> {
    const found = this.#live.get(webhookId);
    this.#live.delete(webhookId);
    found?.webhook.cut();
    await found?.done;
  }

  /** `after`, or where the feed ends now; both only of a database that is there. */
  async #startOf(
    database: string,
    after: number | undefined,
  ): Promise<Pick<StoredWebhook, 'position' | 'epoch'>> {
    let position = after ?? 0;
    const { backend } = this.#delivery;
    for (;;) {
      try {
        const body = await backend.changes(database, { after: position, limit: 1000, waitMs: 0 }, {});
        const feed = JSON.parse(Buffer.from(body).toString('utf8')) as Changes;
        if (after !== undefined) return { position: after, epoch: feed.epoch };
        position = feed.position;
        if (!feed.has_more) return { position, epoch: feed.epoch };
      } catch (error) {
        const start = startAfter(error);
        if (after !== undefined || start === undefined) throw error;
        position = start;
      }
    }
  }

  /** One change at a time; it takes effect once it is durable, and then with the positions of that moment. */
  #replace(change: (kept: Map<string, StoredWebhook>) => unknown): Promise<void> {
    const write = this.#lastWrite.then(async () => {
      const kept = new Map(this.#kept);
      change(kept);
      await writeWebhooks(this.#file, [...kept.values()]);
      this.#kept = kept;
    });
    // The next write must go on after one that failed.
    this.#lastWrite = write.catch(() => undefined);
    return write;
  }
}

function invalidUrl(detail: string): CosiftError {
  const problems: Problem[] = [{ pointer: '/url', code: 'invalid_value', detail }];
  return new CosiftError('invalid_request', `/url: ${detail}`, { problems });
}
