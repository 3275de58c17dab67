import { LinkedAbort } from '../../async/linked-abort.js';
import { backoffMs, sleep } from '../../async/sleep.js';
import { CosiftError, isCode } from '../../errors.js';
import type { DeliveryFailure, WebhookDescription } from '../../schema/index.js';
import { isTemporary } from '../http/log-failure.js';
import type { Logger } from '../observability/log-stream.js';
import type { Delivery } from './delivery.js';
import { readFeed, restartPosition } from './feed-position.js';
import { post } from './post.js';
import { signatureHeaders } from './signature.js';
import type { StoredWebhook } from './stored-webhook.js';

/** The maximum number of changes in one post. */
const BATCH = 100;
const FEED_WAIT_MS = 30_000;
const LEASE_CHECK_MS = 100;

/** Whether a webhook is delivered by this process alone. */
export interface Lease {
  /** Whether other processes may take the webhook over. */
  isShared: boolean;
  isHeld(): boolean;
}

const UNSHARED: Lease = { isShared: false, isHeld: () => true };

export function describeWebhook(stored: StoredWebhook): WebhookDescription {
  const { webhook_id, url, position, failures = 0, last_failure, created_at, created_by } = stored;
  return {
    webhook_id,
    url,
    position,
    failures,
    ...(last_failure !== undefined && { last_failure }),
    created_at,
    created_by,
  };
}

/** Follows the change feed of one database and posts the changes in order, each until the receiver accepts it. */
export class Webhook {
  /** `position` increases with every delivery. */
  readonly stored: StoredWebhook;
  readonly #delivery: Delivery;
  readonly #log: Logger | undefined;
  readonly #stopped = new AbortController();
  readonly #posts = new AbortController();
  readonly #lease: Lease;
  /** Failed attempts of the next delivery. */
  #failures = 0;
  #lastFailure: DeliveryFailure | undefined;

  constructor(stored: StoredWebhook, delivery: Delivery, log: Logger | undefined, lease: Lease = UNSHARED) {
    this.stored = stored;
    this.#delivery = delivery;
    this.#log = log;
    this.#lease = lease;
  }

  describe(): WebhookDescription {
    return describeWebhook({ ...this.stored, failures: this.#failures, last_failure: this.#lastFailure });
  }

  /**
   * Runs until the webhook is stopped, its database is dropped, or its key may no longer have it. `save` stores the
   * position after each delivery; once it returns false, another process delivers.
   */
  async run(store: () => Promise<boolean>): Promise<'stopped' | 'gone'> {
    const { signal } = this.#stopped;
    const save = async () => {
      if (!(await store())) this.abort();
    };
    const { webhook_id } = this.stored;
    let otherFailures = 0;
    while (!signal.aborted) {
      try {
        await this.#deliverNext(save, signal);
        otherFailures = 0;
      } catch (error) {
        if (signal.aborted) break;
        if (isCode(error, 'database_not_found')) return 'gone';
        if (isCode(error, 'unauthorized')) {
          this.#log?.warn({ webhook_id, reason: error.detail }, 'webhook ended');
          return 'gone';
        }
        const start = restartPosition(error);
        if (start !== undefined) {
          this.#log?.warn({ err: error, webhook_id, after: start }, 'feed begins again');
          const restarts = (this.stored.restarts ?? 0) + 1;
          Object.assign(this.stored, { position: start, epoch: undefined, feed: undefined, restarts });
          await save();
          continue;
        }
        // A database that is being dropped is soon gone.
        if (!(error instanceof CosiftError && isTemporary(error))) {
          this.#log?.error({ err: error, webhook_id }, 'change feed failed');
        }
        otherFailures += 1;
        // A stop ends the pause, and then the loop.
        await this.#pause(otherFailures, signal).catch(() => undefined);
      }
    }
    return 'stopped';
  }

  /** Starts no further post. A post in progress may still be accepted, so that it need not be repeated. */
  stop(): void {
    this.#stopped.abort();
  }

  /** Stops, and aborts the post in progress. */
  abort(): void {
    this.#stopped.abort();
    this.#posts.abort();
  }

  /** Waits for changes and delivers them. */
  async #deliverNext(save: () => Promise<void>, signal: AbortSignal): Promise<void> {
    await this.#checkKey();
    const { database, position: after, epoch: readEpoch } = this.stored;
    const request = { after, limit: BATCH, waitMs: FEED_WAIT_MS, epoch: readEpoch };
    const feed = await readFeed(this.#delivery.databases, database, request, signal);
    const { changes, position, epoch } = feed;
    // The epoch of a position may change with any start of the service. Receivers see another only after a restart.
    const history = this.stored.feed ?? (after > 0 ? readEpoch : undefined) ?? epoch;
    await this.#checkKey();
    if (changes.length > 0) {
      const body = JSON.stringify({ database, epoch: history, changes, position });
      await this.#deliver(body, position, save, signal);
    }
    if (position === after && epoch === readEpoch) return;
    Object.assign(this.stored, { position, epoch, feed: position > 0 ? history : undefined });
    await save();
  }

  /** @throws {CosiftError} `unauthorized` once the key that created the webhook may no longer have it. */
  async #checkKey(): Promise<void> {
    const { created_by, database } = this.stored;
    if (await this.#delivery.isAllowed(created_by, database)) return;
    throw new CosiftError('unauthorized', `the key ${created_by} that created it may not have it any more`);
  }

  /** Posts `body` until the receiver accepts it. The message id stays the same, so that a repetition is recognised. */
  async #deliver(
    body: string,
    position: number,
    save: () => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    const { webhook_id, secret, url, restarts = 0 } = this.stored;
    // The same positions occur again after a restart of the feed.
    const messageId = [webhook_id, ...(restarts > 0 ? [restarts] : []), position].join('_');
    for (;;) {
      await this.#waitForLease(signal);
      const headers = {
        ...signatureHeaders(secret, messageId, Math.floor(Date.now() / 1000), body),
        'content-type': 'application/json',
      };
      const { policy, times } = this.#delivery;
      using end = new LinkedAbort(this.#posts.signal, AbortSignal.timeout(times.responseMs));
      const failure = await post(url, headers, body, policy, end.signal);
      this.#lastFailure = failure?.kind;
      if (failure === undefined) {
        this.#failures = 0;
        delete this.stored.failures;
        delete this.stored.last_failure;
        return;
      }
      signal.throwIfAborted();
      this.#log?.warn({ webhook_id, position, fault: failure.detail }, 'delivery failed');
      this.#failures += 1;
      if (this.#lease.isShared) {
        Object.assign(this.stored, { failures: this.#failures, last_failure: failure.kind });
        await save();
      }
      await this.#pause(this.#failures, signal);
      await this.#checkKey();
    }
  }

  /** Posts nothing while another process may be delivering, which would post in another order. */
  async #waitForLease(signal: AbortSignal): Promise<void> {
    while (!this.#lease.isHeld()) await sleep(LEASE_CHECK_MS, signal);
  }

  /**
   * Waits after `failures` failures in a row, twice as long after each. Rejects with the signal's reason as soon as the
   * signal is aborted.
   */
  async #pause(failures: number, signal: AbortSignal): Promise<void> {
    const { firstRetryMs, maxRetryMs } = this.#delivery.times;
    await sleep(backoffMs(failures - 1, firstRetryMs, maxRetryMs), signal);
  }
}
