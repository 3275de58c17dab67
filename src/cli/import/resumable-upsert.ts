import type { Database } from '../../api/index.js';
import { CosiftError, isCode } from '../../errors.js';
import type { Row } from '../../readers/rows.js';
import type { LineSummary } from '../../schema/index.js';
import { type AttemptCalls, Attempts } from './attempts.js';

/** Minimum number of rows to remove at once, because each removal copies the others. */
const MIN_REMOVED = 16_384;
/** Bytes of rows that are sent as one chunk. */
const CHUNK_BYTES = 1 << 16;

const CONDITION = '"if_changed_at"';

export interface UpsertCalls extends AttemptCalls {
  /** Whether all rows are sent by one call. It is only repeated while none is acknowledged. */
  isWhole?: boolean;
  onBad(row: Row, reason: string): void;
  onProgress(rows: number, stored: number): void;
}

export interface UpsertResult extends Omit<LineSummary, 'started_at'> {
  /** Records that were stored before a connection was lost. They are not in the other counts. */
  earlier: number;
}

/**
 * Upserts a stream of rows. When the service is busy or a connection is lost, the rows that it has not acknowledged are
 * sent again.
 */
export async function upsertResumably(
  database: Pick<Database, 'upsertLines'>,
  rows: AsyncIterable<Row[]>,
  calls: UpsertCalls,
): Promise<UpsertResult> {
  const queue = new Queue(rows);
  let stored = 0;
  const attempts = new Attempts(calls);
  try {
    for (;;) {
      const before = stored;
      let sent = 0;
      try {
        for await (const event of database.upsertLines(queue.chunks(), { signal: calls.signal })) {
          if (event.type === 'problem') {
            const row = queue.at(event.line - 1 - sent);
            const place = event.pointer === '' ? '' : `${event.pointer}: `;
            if (row !== undefined) calls.onBad(row, `${place}${event.detail}`);
          } else if (event.type === 'progress') {
            if (queue.acknowledge(event.lines - sent) > 0) attempts.succeeded();
            sent = event.lines;
            stored = before + event.committed;
            calls.onProgress(queue.acknowledged, stored);
          } else {
            const { started_at: _, ...counts } = event;
            return { ...counts, earlier: before };
          }
        }
        throw new Error('the import ended without a summary');
      } catch (error) {
        if (calls.isWhole && queue.acknowledged > 0) throw error;
        // A condition that held before its row was stored would be violated by that row.
        if (isCode(error, 'unreachable') && queue.hasSentConditions()) {
          const detail = `${error.detail}; rows with if_changed_at may be stored: compare before you import them again`;
          throw new CosiftError('unreachable', detail, { cause: error });
        }
        await attempts.waitAfter(error);
        queue.restart();
      }
    }
  } finally {
    queue.close();
  }
}

/** Rows that are read and not yet acknowledged. */
class Queue {
  readonly #input: AsyncIterator<Row[]>;
  /** The read that an attempt waits for. It is kept at the end of the input and after its failure. */
  #read: Promise<IteratorResult<Row[]>> | undefined;
  #rows: Row[] = [];
  /** Acknowledged rows at the start of `#rows`. */
  #done = 0;
  /** Rows that the current attempt has sent, and the acknowledged ones. */
  #sent = 0;
  #attempt = 0;
  acknowledged = 0;

  constructor(rows: AsyncIterable<Row[]>) {
    this.#input = rows[Symbol.asyncIterator]();
  }

  /** Returns the row that follows `index` unacknowledged rows. */
  at(index: number): Row | undefined {
    return this.#rows[this.#done + index];
  }

  /** Returns the number of rows that are acknowledged now: a service may acknowledge only rows that it was sent. */
  acknowledge(count: number): number {
    const acknowledged = Math.min(count, this.#sent - this.#done);
    this.acknowledged += acknowledged;
    this.#done += acknowledged;
    if (this.#done < MIN_REMOVED) return acknowledged;
    this.#rows = this.#rows.slice(this.#done);
    this.#sent -= this.#done;
    this.#done = 0;
    return acknowledged;
  }

  /** Whether a row that was sent and is not acknowledged may have a condition. */
  hasSentConditions(): boolean {
    const sent = this.#rows.slice(this.#done, this.#sent);
    return sent.some(({ json }) =>
      Buffer.from(json.buffer, json.byteOffset, json.length).includes(CONDITION),
    );
  }

  /** Sends the unacknowledged rows again. */
  restart(): void {
    this.#attempt += 1;
    this.#sent = this.#done;
  }

  /** Yields the rows that are not acknowledged, and then those that are not read. */
  async *chunks(): AsyncGenerator<Uint8Array> {
    const attempt = this.#attempt;
    for (;;) {
      while (this.#sent < this.#rows.length && attempt === this.#attempt) yield this.#take();
      // An earlier attempt may still be waiting for the same read, and takes its rows for the current one.
      this.#read ??= this.#input.next();
      const read = this.#read;
      const { done, value } = await read;
      if (done) return;
      if (this.#read === read) {
        this.#read = undefined;
        for (const row of value) this.#rows.push(row);
      }
      if (attempt !== this.#attempt) return;
    }
  }

  /** Ends the input. Does not wait for it, because a pipe may be silent. */
  close(): void {
    this.#input.return?.().catch(() => undefined);
  }

  #take(): Uint8Array {
    const parts: Uint8Array[] = [];
    for (let bytes = 0; bytes < CHUNK_BYTES && this.#sent < this.#rows.length; this.#sent += 1) {
      const { json } = this.#rows[this.#sent] as Row;
      parts.push(json);
      bytes += json.length;
    }
    return Buffer.concat(parts);
  }
}
