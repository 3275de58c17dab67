import { LinkedAbort } from '../../async/linked-abort.js';
import { sleep, within } from '../../async/sleep.js';
import type { Transport } from '../../client/transport.js';
import type { SyncHold, SyncPosition, SyncTarget } from '../../databases/index.js';
import { CosiftError, type ErrorCode, isCode } from '../../errors.js';
import type { LineEvent } from '../../schema/index.js';
import { MAX_SYNC_KEYS } from '../../schema/syncs.js';

const POSITION = { epoch: 'string', version: 'number', records: 'number', keys: ['string'] } as const;
const HOLD = { hold: 'string', seconds: 'number' } as const;
const DELETION = { deleted: 'number' } as const;

/** A hold is renewed so many times before it would end. */
const RENEWALS = 4;

/** Much shorter than the pause after which a service ends a request. */
const PAUSE_MS = 10_000;

/** Milliseconds that the release of a hold may take. */
const DROP_MS = 5_000;

/** Milliseconds after which a service ends a hold without requests, until it has said so. */
const HOLD_MS = 10_000;
/** Codes of requests that the service may have carried out. `internal`: the response of a proxy. */
const UNKNOWN_OUTCOMES: readonly ErrorCode[] = ['unreachable', 'timed_out', 'internal'];
/** Milliseconds between two requests for a hold that the service may have given to this process already. */
const RETAKE_MS = 250;

/** A hold that the service has given. */
interface Held {
  path: string;
  lost: AbortController;
  /** Ends its renewals. */
  ended: AbortController;
}

/** Reads what a service has of a sync. */
export async function readPosition(
  transport: Transport,
  database: string,
  name: string,
  query = '',
): Promise<SyncPosition> {
  const path = `${pathOf(database, name)}${query}`;
  type Position = Omit<SyncPosition, 'state'> & { state?: object | null };
  const { state = null, ...position } = await transport.json<Position>('GET', path, POSITION);
  return { ...position, state: state === null ? null : JSON.stringify(state) };
}

function pathOf(database: string, name: string): string {
  return `/databases/${database}/sync/${name}`;
}

/**
 * What a sync does in a database of a service.
 *
 * A hold is kept between passes, until it is lost or a write fails: the service may still be carrying out such a write. It ends
 * them before it gives another hold, so that no write of an earlier pass is carried out after one of a later pass.
 */
export class RemoteTarget implements SyncTarget {
  readonly closing: AbortSignal = new AbortController().signal;
  readonly #transport: Transport;
  readonly #database: string;
  readonly #name: string;
  readonly #pauseMs: number;
  #held: Held | undefined;
  #holdMs = HOLD_MS;
  /** Until when the service may have a hold of this process that it did not get, or could not release. */
  #orphanedUntil = 0;

  /** Rows that come after a pause of `pauseMs` are sent as a request of their own. */
  constructor(transport: Transport, database: string, name: string, pauseMs = PAUSE_MS) {
    this.#transport = transport;
    this.#pauseMs = pauseMs;
    this.#database = database;
    this.#name = name;
  }

  state({ limit = 0, after }: { limit?: number; after?: string | undefined } = {}): Promise<SyncPosition> {
    const query = `?limit=${limit}${after === undefined ? '' : `&after=${encodeURIComponent(after)}`}`;
    return readPosition(this.#transport, this.#database, this.#name, query);
  }

  async hold(signal: AbortSignal): Promise<SyncHold> {
    this.#held ??= await this.#take(signal);
    return { lost: this.#held.lost.signal, release: async () => undefined };
  }

  async *upsert(
    chunks: AsyncIterable<Uint8Array>,
    readAt: number,
    { signal }: { signal: AbortSignal },
  ): AsyncGenerator<LineEvent, void, undefined> {
    const path = `${this.#path}/records?read_at=${new Date(readAt).toISOString()}`;
    const counts = { lines: 0, created: 0, changed: 0, unchanged: 0, failed: 0 };
    let started_at: string | undefined;
    let isComplete = false;
    try {
      for await (const part of withoutPauses(chunks, this.#pauseMs)) {
        const before = { ...counts };
        for await (const event of this.#transport.lines('POST', path, part, { signal })) {
          if (event.type === 'problem') yield { ...event, line: before.lines + event.line };
          else if (event.type === 'progress') {
            const committed = before.created + before.changed + before.unchanged + event.committed;
            yield { ...event, lines: before.lines + event.lines, committed };
          } else if (event.type === 'summary') {
            for (const name of ['lines', 'created', 'changed', 'unchanged', 'failed'] as const)
              counts[name] = before[name] + event[name];
            started_at ??= event.started_at;
          }
        }
      }
      isComplete = true;
      yield { type: 'summary', ...counts, started_at: started_at ?? new Date().toISOString() };
    } finally {
      if (!isComplete) await this.#drop();
    }
  }

  async remove(deletion: Parameters<SyncTarget['remove']>[0], { signal }: { signal: AbortSignal }) {
    const { epoch, max, state } = deletion;
    try {
      const keys = 'ids' in deletion ? deletion.ids.map((id) => id.slice('key:'.length)) : [];
      while (keys.length > MAX_SYNC_KEYS) await this.#commit({ keys: keys.splice(0, MAX_SYNC_KEYS) }, signal);
      const gone = 'unwritten' in deletion ? { unwritten_since: deletion.unwritten.version } : { keys };
      return await this.#commit({ ...gone, epoch, max, state: JSON.parse(state.text) }, signal);
    } catch (error) {
      // Nothing was done, and the hold goes on.
      if (!isCode(error, 'deletion_refused')) await this.#drop();
      throw error;
    }
  }

  async release(): Promise<void> {
    await this.#drop();
    await this.#transport.close();
  }

  get #path(): string {
    if (this.#held === undefined) throw new CosiftError('hold_lost', `the sync "${this.#name}" is not held`);
    return this.#held.path;
  }

  async #commit(body: object, signal: AbortSignal): Promise<number> {
    const path = `${this.#path}/commit`;
    const { deleted } = await this.#transport.json<{ deleted: number }>('POST', path, DELETION, body, {
      signal,
    });
    return deleted;
  }

  async #take(signal: AbortSignal): Promise<Held> {
    const path = `${pathOf(this.#database, this.#name)}/holds`;
    type Reply = { hold: string; seconds: number };
    for (;;) {
      try {
        const { hold, seconds } = await this.#transport.json<Reply>('POST', path, HOLD, undefined, {
          signal,
        });
        this.#orphanedUntil = 0;
        this.#holdMs = seconds * 1_000;
        const held = { path: `${path}/${hold}`, lost: new AbortController(), ended: new AbortController() };
        this.#renew(held, this.#holdMs).catch(() => undefined);
        return held;
      } catch (error) {
        if (!isCode(error, 'busy')) this.#expectOrphan(error);
        if (!isCode(error, 'busy') || performance.now() >= this.#orphanedUntil) throw error;
        await sleep(RETAKE_MS, signal);
      }
    }
  }

  /** Notes that the service may have a hold that this process does not know, unless it has answered. */
  #expectOrphan(error: unknown): void {
    const isAnswer = error instanceof CosiftError && !UNKNOWN_OUTCOMES.includes(error.code);
    if (!isAnswer) this.#orphanedUntil = performance.now() + 2 * this.#holdMs;
  }

  /** Renews a hold until it is dropped, or lost after `holdMs` without a renewal. */
  async #renew(held: Held, holdMs: number): Promise<void> {
    const pauseMs = holdMs / RENEWALS;
    let renewed = performance.now();
    for (;;) {
      await sleep(pauseMs, held.ended.signal);
      const sent = performance.now();
      try {
        using call = new LinkedAbort(held.ended.signal, AbortSignal.timeout(pauseMs));
        await this.#transport.json('PUT', held.path, HOLD, undefined, { signal: call.signal });
        renewed = sent;
      } catch (error) {
        held.ended.signal.throwIfAborted();
        // After any other failure, the service may still have it.
        if (!isCode(error, 'hold_lost') && performance.now() - renewed < holdMs) continue;
        if (this.#held === held) this.#held = undefined;
        this.#expectOrphan(error);
        held.lost.abort(
          new CosiftError('hold_lost', `the service ended the hold of the sync "${this.#name}"`),
        );
        return;
      }
    }
  }

  async #drop(): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    held?.ended.abort();
    // A hold that is not released ends without renewals.
    const signal = AbortSignal.timeout(DROP_MS);
    if (held === undefined) return;
    await this.#transport.delete(held.path, { signal }).catch((error) => this.#expectOrphan(error));
  }
}

/** Divides chunks where they pause, and yields the parts, which have at least one chunk. Each is read before the next. */
async function* withoutPauses(
  chunks: AsyncIterable<Uint8Array>,
  pauseMs: number,
): AsyncGenerator<AsyncIterable<Uint8Array>> {
  const input = chunks[Symbol.asyncIterator]();
  try {
    let next = input.next();
    const part = async function* () {
      for (;;) {
        const found = await within(pauseMs, next);
        if (found === undefined || found.done) return;
        next = input.next();
        // It is awaited later; until then, its failure is not an unhandled rejection.
        next.catch(() => undefined);
        yield found.value;
      }
    };
    while (!(await next).done) yield part();
  } finally {
    await input.return?.();
  }
}
