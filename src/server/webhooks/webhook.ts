import { LinkedAbort } from '../../async/linked-abort.js';
import type { Backend } from '../../backend/backend.js';
import type { AddressPolicy } from '../../config/index.js';
import { CosiftError } from '../../errors.js';
import type { Changes, DeliveryFailure, WebhookDescription } from '../../schema/index.js';
import type { Logger } from '../observability/logger.js';
import { post } from './post.js';
import { signatureHeaders } from './signature.js';

/** What is kept of a webhook. */
export interface StoredWebhook {
  webhook_id: string;
  database: string;
  url: string;
  secret: string;
  position: number;
  /** The feed that `position` is of; absent until the first answer of one. */
  epoch?: string | undefined;
  /** How often the feed began again. */
  restarts?: number;
  created_at: string;
  /** The key that created it. Webhooks of earlier releases lack it. */
  created_by?: string;
}

export interface DeliveryTimes {
  /** Longest wait for an answer. */
  answerMs: number;
  /** Wait after the first failure; each further one doubles it. */
  firstRetryMs: number;
  lastRetryMs: number;
}

/** What every webhook of a service needs. */
export interface Delivery {
  backend: Backend;
  times: DeliveryTimes;
  policy: AddressPolicy;
  /**
   * Whether the key of this id may still have webhooks of a database.
   *
   * @throws {CosiftError} when that cannot be told, as while the keys cannot be read.
   */
  isAllowed: (keyId: string, database: string) => Promise<boolean>;
}

/** Where to read a feed from that does not go on after a position; undefined for another error. */
export function startAfter(error: unknown): number | undefined {
  if (!(error instanceof CosiftError)) return undefined;
  if (error.code === 'feed_restarted') return 0;
  return error.code === 'changes_removed' ? Number(error.fields.after) : undefined;
}

const BATCH = 100;
const FEED_WAIT_MS = 30_000;

/** Follows the change feed of one database and posts what it tells, in order, until each post is taken. */
export class Webhook {
  readonly stored: StoredWebhook;
  readonly #delivery: Delivery;
  readonly #log: Logger | undefined;
  readonly #stop = new AbortController();
  /** Ends the post that is under way, too. */
  readonly #cut = new AbortController();
  #failures = 0;
  #lastFailure: DeliveryFailure | undefined;

  constructor(stored: StoredWebhook, delivery: Delivery, log: Logger | undefined) {
    this.stored = stored;
    this.#delivery = delivery;
    this.#log = log;
  }

  describe(): WebhookDescription {
    const { webhook_id, url, position, created_at, created_by } = this.stored;
    return {
      webhook_id,
      url,
      position,
      failures: this.#failures,
      ...(this.#lastFailure !== undefined && { last_failure: this.#lastFailure }),
      created_at,
      ...(created_by !== undefined && { created_by }),
    };
  }

  /**
   * Runs until it is stopped, its database is gone, or its key is no longer allowed to have it; `taken` is awaited after
   * each delivery.
   */
  async run(taken: () => Promise<void>): Promise<'stopped' | 'gone'> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        await this.#checkKey();
        const { changes, position, epoch } = await this.#next(signal);
        await this.#checkKey();
        if (changes.length > 0) {
          const { database } = this.stored;
          const body = JSON.stringify({ database, epoch, changes, position });
          await this.#deliver(body, position, signal);
        }
        if (position !== this.stored.position || epoch !== this.stored.epoch) {
          Object.assign(this.stored, { position, epoch });
          await taken();
        }
      } catch (error) {
        if (signal.aborted) break;
        if (error instanceof CosiftError && error.code === 'database_not_found') return 'gone';
        if (error instanceof CosiftError && error.code === 'unauthorized') {
          this.#log?.warn({ webhook_id: this.stored.webhook_id, reason: error.detail }, 'webhook ended');
          return 'gone';
        }
        const start = startAfter(error);
        if (start !== undefined) {
          this.#log?.warn(
            { err: error, webhook_id: this.stored.webhook_id, after: start },
            'feed begins again',
          );
          const restarts = (this.stored.restarts ?? 0) + 1;
          Object.assign(this.stored, { position: start, epoch: undefined, restarts });
          await taken();
          continue;
        }
        this.#log?.error({ err: error, webhook_id: this.stored.webhook_id }, 'change feed failed');
        await this.#pause(signal);
      }
    }
    return 'stopped';
  }

  /** Posts nothing more; a post that is under way may still end, so that it need not be repeated. */
  stop(): void {
    this.#stop.abort();
  }

  /** Stops, and ends the post that is under way. */
  cut(): void {
    this.#stop.abort();
    this.#cut.abort();
  }

  /** @throws {CosiftError} `unauthorized` once the key that created the webhook may not have it any more. */
  async #checkKey(): Promise<void> {
    const { created_by, database } = this.stored;
    if (created_by === undefined || (await this.#delivery.isAllowed(created_by, database))) return;
    throw new CosiftError('unauthorized', `the key ${created_by} that created it may not have it any more`);
  }

  async #next(signal: AbortSignal): Promise<Changes> {
    const { database, position, epoch } = this.stored;
    const request = { after: position, limit: BATCH, waitMs: FEED_WAIT_MS, epoch };
    const body = await this.#delivery.backend.changes(database, request, { signal });
    return JSON.parse(Buffer.from(body).toString('utf8'));
  }

  /** The same message id every time, so that a receiver can tell a repetition. */
  async #deliver(body: string, position: number, signal: AbortSignal): Promise<void> {
    const { webhook_id, secret, url, restarts = 0 } = this.stored;
    // Positions come again when the feed begins again.
    const messageId = [webhook_id, ...(restarts > 0 ? [restarts] : []), position].join('_');
    for (;;) {
      const headers = {
        ...signatureHeaders(secret, messageId, Math.floor(Date.now() / 1000), body),
        'content-type': 'application/json',
      };
      const { policy, times } = this.#delivery;
      using end = new LinkedAbort(this.#cut.signal, AbortSignal.timeout(times.answerMs));
      const fault = await post(url, headers, body, policy, end.signal);
      this.#lastFailure = fault?.kind;
      if (fault === undefined) {
        this.#failures = 0;
        return;
      }
      signal.throwIfAborted();
      this.#log?.warn({ webhook_id, position, fault: fault.detail }, 'delivery failed');
      await this.#pause(signal);
      await this.#checkKey();
    }
  }

  async #pause(signal: AbortSignal): Promise<void> {
    const { firstRetryMs, lastRetryMs } = this.#delivery.times;
    const longest = Math.min(firstRetryMs * 2 ** this.#failures, lastRetryMs);
    this.#failures += 1;
    // A random half keeps many webhooks of one failed receiver from coming back together.
    const ms = longest * (0.5 + Math.random() / 2);
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      signal.addEventListener('abort', end, { once: true });
    });
    signal.throwIfAborted();
  }
}
