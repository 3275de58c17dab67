import { setTimeout as sleep } from 'node:timers/promises';

/** Complete lines of a stream, for one commit. */
export interface LineBatch {
  bytes: Uint8Array;
  /** The number of the first line; 1 for the first line of the stream. */
  firstLine: number;
  lines: number;
  /** The numbers of the lines that were too long; `bytes` has empty lines in their place. */
  tooLong: number[];
}

/** Lines that share a commit. More lines make the import no faster, and a failed commit would undo more work. */
const BATCH_LINES = 256;

/** Bytes that share a commit, unless one line alone is longer. */
const BATCH_BYTES = 1 << 20;

/** How long complete lines wait for further lines to share their commit, in milliseconds. */
const PAUSE_MS = 50;

/** The initial size of the buffer for lines. */
const MIN_BYTES = 16_384;

const NEWLINE = 0x0a;
const LINE_END = Uint8Array.of(NEWLINE);

/**
 * Cuts a stream into batches of complete lines. The stream is read only as batches are consumed.
 *
 * A batch ends when it is full or when the stream pauses. Only the number is kept of a line longer than `maxLineBytes`.
 */
export async function* batchesOfLines(
  chunks: AsyncIterable<Uint8Array>,
  maxLineBytes: number,
): AsyncGenerator<LineBatch> {
  const input = chunks[Symbol.asyncIterator]();
  const lines = new LineBuffer(maxLineBytes);
  try {
    let next = input.next();
    for (;;) {
      if (lines.complete > 0 && (await isPaused(next))) yield lines.take();
      const { done, value } = await next;
      if (done) break;
      for (const batch of lines.add(value)) yield batch;
      next = input.next();
      // The promise is awaited later; until then, a failure must not count as an unhandled rejection.
      next.catch(() => undefined);
    }
    if (lines.finish()) yield lines.take();
  } finally {
    await input.return?.();
  }
}

/** Returns whether `next` does not settle within {@link PAUSE_MS}. */
async function isPaused(next: Promise<unknown>): Promise<boolean> {
  const timer = new AbortController();
  const pause = sleep(PAUSE_MS, true, { signal: timer.signal }).catch(() => false);
  const arrived = next.then(
    () => false,
    () => false,
  );
  const result = await Promise.race([arrived, pause]);
  timer.abort();
  return result;
}

/** Lines that were read and are in no batch yet, as one piece: however small the chunks are, each byte takes one. */
class LineBuffer {
  readonly #maxLineBytes: number;
  /** The complete lines, and then the beginning of the incomplete line; empty once that line is too long. */
  #bytes = Buffer.alloc(0);
  #length = 0;
  /** Bytes of `#bytes` that are complete lines. */
  #completeLength = 0;
  /** Bytes of the complete lines as they arrived, with those of lines that were too long. */
  #completeBytes = 0;
  #tooLong: number[] = [];
  /** Bytes of the incomplete line, also once it is too long. */
  #lineBytes = 0;
  #nextLine = 1;
  /** The number of complete lines. */
  complete = 0;

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** Adds a chunk; yields the batches that it fills. */
  *add(chunk: Uint8Array): Generator<LineBatch> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#extend(chunk.subarray(start, end));
      this.#endLine();
      start = end + 1;
      if (this.complete === BATCH_LINES || this.#completeBytes >= BATCH_BYTES) yield this.take();
    }
    this.#extend(chunk.subarray(start));
  }

  /** Removes and returns the complete lines. The bytes after the last newline stay. */
  take(): LineBatch {
    const bytes = this.#bytes.subarray(0, this.#completeLength);
    const batch = { bytes, firstLine: this.#nextLine, lines: this.complete, tooLong: this.#tooLong };
    // A copy, because the batch keeps its bytes.
    this.#bytes = Buffer.from(this.#bytes.subarray(this.#completeLength, this.#length));
    this.#length = this.#bytes.length;
    this.#completeLength = 0;
    this.#completeBytes = 0;
    this.#tooLong = [];
    this.#nextLine += this.complete;
    this.complete = 0;
    return batch;
  }

  /** Ends the line after the last newline; returns whether there are lines to take. */
  finish(): boolean {
    if (this.#lineBytes > 0) this.#endLine();
    return this.complete > 0;
  }

  #extend(part: Uint8Array): void {
    this.#lineBytes += part.length;
    if (this.#lineBytes <= this.#maxLineBytes) this.#append(part);
    else this.#length = this.#completeLength;
  }

  #endLine(): void {
    if (this.#lineBytes > this.#maxLineBytes) this.#tooLong.push(this.#nextLine + this.complete);
    this.#append(LINE_END);
    this.#completeLength = this.#length;
    this.#completeBytes += this.#lineBytes + LINE_END.length;
    this.#lineBytes = 0;
    this.complete += 1;
  }

  #append(part: Uint8Array): void {
    const length = this.#length + part.length;
    if (length > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(2 * length, MIN_BYTES));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    this.#bytes.set(part, this.#length);
    this.#length = length;
  }
}
