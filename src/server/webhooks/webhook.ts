import type { Backend } from '../../backend/backend.js';
import { CosiftError } from '../../errors.js';
import type { Changes, WebhookDescription } from '../../schema/index.js';
import type { Logger } from '../services.js';
import { signatureHeaders } from './signature.js';

/** What is kept of a webhook. */
export interface StoredWebhook {
  webhook_id: string;
  database: string;
  url: string;
  secret: string;
  position: number;
  created_at: string;
}

export interface DeliveryTimes {
  /** Longest wait for an answer. */
  answerMs: number;
  /** Wait after the first failure; each further one doubles it. */
  firstRetryMs: number;
  lastRetryMs: number;
}

const BATCH = 100;
const FEED_WAIT_MS = 30_000;

/** Follows the change feed of one database and posts what it tells, in order, until each post is taken. */
export class Webhook {
  readonly stored: StoredWebhook;
  readonly #backend: Backend;
  readonly #times: DeliveryTimes;
  readonly #log: Logger | undefined;
  readonly #stop = new AbortController();
  #failures = 0;

  constructor(stored: StoredWebhook, backend: Backend, times: DeliveryTimes, log: Logger | undefined) {
    this.stored = stored;
    this.#backend = backend;
    this.#times = times;
    this.#log = log;
  }

  describe(): WebhookDescription {
    const { webhook_id, url, position, created_at } = this.stored;
    return { webhook_id, url, position, failures: this.#failures, created_at };
  }

  /** Runs until it is stopped or its database is gone; `taken` is awaited after each delivery. */
  async run(taken: () => Promise<void>): Promise<'stopped' | 'gone'> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        const { changes, position } = await this.#next(signal);
        if (changes.length > 0) {
          const { database } = this.stored;
          await this.#deliver(JSON.stringify({ database, changes, position }), position, signal);
        }
        if (position !== this.stored.position) {
          this.stored.position = position;
          await taken();
        }
      } catch (error) {
        if (signal.aborted) break;
        if (error instanceof CosiftError && error.code === 'database_not_found') return 'gone';
        this.#log?.error({ err: error, webhook_id: this.stored.webhook_id }, 'change feed failed');
        await this.#pause(signal);
      }
    }
    return 'stopped';
  }

  stop(): void {
    this.#stop.abort();
  }

  async #next(signal: AbortSignal): Promise<Changes> {
    const { database, position } = this.stored;
    const request = { after: position, limit: BATCH, waitMs: FEED_WAIT_MS };
    const body = await this.#backend.changes(database, request, { signal });
    return JSON.parse(Buffer.from(body).toString('utf8'));
  }

  /** The same message id every time, so that a receiver can tell a repetition. */
  async #deliver(body: string, position: number, signal: AbortSignal): Promise<void> {
    const { webhook_id, secret, url } = this.stored;
    const messageId = `${webhook_id}_${position}`;
    for (;;) {
      const headers = signatureHeaders(secret, messageId, Math.floor(Date.now() / 1000), body);
      const fault = await this.#post(url, { ...headers, 'content-type': 'application/json' }, body, signal);
      if (fault === undefined) {
        this.#failures = 0;
        return;
      }
      signal.throwIfAborted();
      this.#log?.warn({ webhook_id, position, fault }, 'delivery failed');
      await this.#pause(signal);
    }
  }

  /** What went wrong, undefined when the delivery was taken. */
  async #post(
    url: string,
    headers: Record<string, string>,
    body: string,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers,
        body,
        redirect: 'manual',
        signal: AbortSignal.any([signal, AbortSignal.timeout(this.#times.answerMs)]),
      });
      await response.body?.cancel();
      return response.ok ? undefined : `status ${response.status}`;
    } catch (error) {
      return String(error);
    }
  }

  async #pause(signal: AbortSignal): Promise<void> {
    const { firstRetryMs, lastRetryMs } = this.#times;
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
