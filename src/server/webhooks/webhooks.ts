import { randomBytes } from 'node:crypto';
import { FairLimiter } from '../../async/fair-limiter.js';
import { sleep } from '../../async/sleep.js';
import { AddressPolicy, hostOf } from '../../config/index.js';
import type { DatabaseService } from '../../databases/index.js';
import { CosiftError, type Problem } from '../../errors.js';
import type { CreatedWebhook, WebhookDescription, WebhookRequest } from '../../schema/index.js';
import type { Caller } from '../keys/caller.js';
import type { Logger } from '../observability/log-stream.js';
import { DELIVERY_TIMES, type Delivery, type DeliveryTimes } from './delivery.js';
import { startPosition } from './feed-position.js';
import { generateSecret } from './signature.js';
import type { StoredWebhook } from './stored-webhook.js';
import { describeWebhook, Webhook } from './webhook.js';
import type { Sharing, WebhookStore } from './webhook-store.js';

/** How long a stop waits for the responses to posts in progress, in milliseconds. */
const STOP_MS = 1000;

export interface WebhookOptions {
  times?: DeliveryTimes | undefined;
  /** Addresses, CIDR ranges and host names that webhooks may reach although they are not public. */
  allow?: readonly string[];
  /** See {@link Delivery}. Default: every key is allowed. */
  isAllowed?: Delivery['isAllowed'];
}

/** Delivers the changes of databases to the webhooks of a store. */
export class Webhooks {
  readonly #store: WebhookStore;
  readonly #delivery: Delivery;
  /** The webhooks that this process delivers. */
  readonly #running = new Map<string, { webhook: Webhook; done: Promise<void> }>();
  /** What changes the set of running webhooks takes turns. */
  readonly #turns = new FairLimiter({ total: 1, perCaller: 1 });
  readonly #closing = new AbortController();
  /** When the leases end, in milliseconds of `performance.now()`. */
  #leasedUntil = Number.NEGATIVE_INFINITY;
  /** Resolves once the leases are no longer renewed. */
  #renewing: Promise<void> = Promise.resolve();
  #log: Logger | undefined;

  constructor(
    store: WebhookStore,
    databases: DatabaseService,
    { times = DELIVERY_TIMES, allow = [], isAllowed = async () => true }: WebhookOptions = {},
  ) {
    this.#store = store;
    this.#delivery = { databases, times, policy: new AddressPolicy(allow), isAllowed };
  }

  /** Starts to deliver, each webhook from its stored position. */
  async start(log: Logger): Promise<void> {
    this.#log = log;
    await this.#takeLeases();
    const { sharing } = this.#store;
    if (sharing !== undefined) this.#renewing = this.#renewLeases(sharing);
  }

  /**
   * Creates a webhook that ends with the key `creator`.
   *
   * @throws {CosiftError} `invalid_request`, `database_not_found`; `busy` when there are too many webhooks.
   */
  async create(database: string, { url, after }: WebhookRequest, creator: Caller): Promise<CreatedWebhook> {
    this.#checkUrl(url);
    const stored: StoredWebhook = {
      webhook_id: randomBytes(6).toString('hex'),
      database,
      url,
      secret: generateSecret(),
      ...(await startPosition(this.#delivery.databases, database, after)),
      created_at: new Date().toISOString(),
      created_by: creator.keyId,
      counted_for: creator.ancestors[0] ?? creator.keyId,
    };
    const description = await this.#inTurn(async () => {
      await this.#store.add(stored);
      return this.#begin(stored).describe();
    });
    return { ...description, secret: stored.secret };
  }

  async list(database: string): Promise<WebhookDescription[]> {
    const all = await this.#store.list();
    return all
      .filter((stored) => stored.database === database)
      .map((stored) => {
        const running = this.#running.get(stored.webhook_id);
        return running?.webhook.describe() ?? describeWebhook(stored);
      });
  }

  /** @throws {CosiftError} `webhook_not_found` */
  async delete(database: string, webhookId: string): Promise<void> {
    const stored = await this.#store.find(webhookId);
    if (stored?.database !== database) {
      throw new CosiftError('webhook_not_found', `there is no webhook "${webhookId}"`);
    }
    await this.#inTurn(async () => {
      await this.#store.remove([webhookId]);
      await this.#end(webhookId);
    });
  }

  /** Deletes the webhooks of a database that was dropped. No further change is delivered. */
  async deleteOf(database: string): Promise<void> {
    try {
      const ids = (await this.#store.list())
        .filter((stored) => stored.database === database)
        .map(({ webhook_id }) => webhook_id);
      if (ids.length === 0) return;
      await Promise.all(ids.map((id) => this.#end(id)));
      await this.#store.remove(ids);
    } catch (error) {
      // The drop has succeeded; the next start finds no database and removes its webhooks.
      this.#log?.error({ err: error, database }, 'cannot keep webhooks');
    }
  }

  /** Stops every delivery within a second. Changes that no receiver accepted are delivered after the next start. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#renewing;
    const running = [...this.#running.values()];
    for (const { webhook } of running) webhook.stop();
    const timer = setTimeout(() => {
      for (const { webhook } of running) webhook.abort();
    }, STOP_MS);
    await Promise.all(running.map(({ done }) => done));
    clearTimeout(timer);
    await this.#store.close();
  }

  /** Begins the webhooks that no other process delivers, and ends those that another process has taken over. */
  async #takeLeases(): Promise<void> {
    await this.#inTurn(async () => {
      const requestedAt = performance.now();
      const leased = await this.#store.lease();
      this.#leasedUntil = requestedAt + (this.#store.sharing?.leaseMs ?? Number.POSITIVE_INFINITY);
      const ids = new Set(leased.map(({ webhook_id }) => webhook_id));
      const lost = [...this.#running.keys()].filter((id) => !ids.has(id));
      await Promise.all(lost.map((id) => this.#end(id)));
      for (const stored of leased) if (!this.#running.has(stored.webhook_id)) this.#begin(stored);
    });
  }

  /** Takes the leases again until the close, also when another process has changed the webhooks. */
  async #renewLeases({ renewMs, watch }: Sharing): Promise<void> {
    const { signal } = this.#closing;
    let wake = new AbortController();
    watch(() => wake.abort());
    while (!signal.aborted) {
      await sleep(renewMs, signal, wake.signal).catch(() => undefined);
      if (signal.aborted) return;
      wake = new AbortController();
      // A failure is tried again: until then nothing is posted once the leases end.
      await this.#takeLeases().catch((error) => this.#log?.warn({ err: error }, 'webhooks not leased'));
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.run('', work);
  }

  #begin(stored: StoredWebhook): Webhook {
    const lease = {
      isShared: this.#store.sharing !== undefined,
      isHeld: () => performance.now() < this.#leasedUntil,
    };
    const webhook = new Webhook(stored, this.#delivery, this.#log, lease);
    const done = webhook
      .run(() => this.#store.update(stored))
      .then(async (end) => {
        if (end === 'stopped') return;
        this.#running.delete(stored.webhook_id);
        await this.#store.remove([stored.webhook_id]);
      });
    // Only the store can fail here; the next start delivers again what the store has not recorded.
    const logged = done.catch((error: unknown) => this.#log?.error({ err: error }, 'cannot keep webhooks'));
    this.#running.set(stored.webhook_id, { webhook, done: logged });
    return webhook;
  }

  async #end(webhookId: string): Promise<void> {
    const found = this.#running.get(webhookId);
    this.#running.delete(webhookId);
    found?.webhook.abort();
    await found?.done;
  }

  #checkUrl(url: string): void {
    if (!URL.canParse(url)) throw invalidUrl('is not a URL');
    const parsed = new URL(url);
    if (parsed.username !== '' || parsed.password !== '') {
      throw invalidUrl('must not contain a user name or a password, because listings show it');
    }
    const host = hostOf(parsed);
    if (!this.#delivery.policy.refusesHost(host)) return;
    throw invalidUrl(
      `${host} is not a public address; webhooks reach it where the setting webhook_allow of the service lists it`,
    );
  }
}

function invalidUrl(detail: string): CosiftError {
  const problems: Problem[] = [{ pointer: '/url', code: 'invalid_value', detail }];
  return new CosiftError('invalid_request', `/url: ${detail}`, { problems });
}
