import { setTimeout as sleep } from 'node:timers/promises';
import { CosiftError } from '../errors.js';

/** Whole lines of a stream, for one commit. */
export interface LineBatch {
  bytes: Uint8Array;
  /** Number of the first line, 1 for the first of the stream. */
  firstLine: number;
  lines: number;
}

/** Lines that share a commit. More make the import no faster, and a bad record would undo more work. */
const BATCH_LINES = 256;

/** Bytes that share a commit, unless one line alone is longer. */
const BATCH_BYTES = 1 << 20;

/** How long whole lines wait for others to share their commit. */
const PAUSE_MS = 50;

const NEWLINE = 0x0a;

/**
 * Cuts a stream into batches of whole lines, reading on only as batches are taken.
 *
 * A batch is full, or the stream has paused after its last line.
 *
 * @throws {CosiftError} `too_large` for a line longer than `maxLineBytes`, with its number.
 */
export async function* batchesOfLines(
  chunks: AsyncIterable<Uint8Array>,
  maxLineBytes: number,
): AsyncGenerator<LineBatch> {
  const input = chunks[Symbol.asyncIterator]();
  const lines = new LineBuffer(maxLineBytes);
  try {
    let coming = input.next();
    for (;;) {
      if (lines.whole > 0 && (await paused(coming))) yield lines.take();
      const { done, value } = await coming;
      if (done) break;
      for (const part of lines.add(value)) yield part;
      coming = input.next();
      // Awaited in its turn; until then a failure must not count as unhandled.
      coming.catch(() => undefined);
    }
    if (lines.finish()) yield lines.take();
  } finally {
    await input.return?.();
  }
}

async function paused(coming: Promise<unknown>): Promise<boolean> {
  const timer = new AbortController();
  const pause = sleep(PAUSE_MS, true, { signal: timer.signal }).catch(() => false);
  const arrived = coming.then(
    () => false,
    () => false,
  );
  const result = await Promise.race([arrived, pause]);
  timer.abort();
  return result;
}

/** Lines read and not yet taken. */
class LineBuffer {
  readonly #maxLineBytes: number;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  /** Bytes after the last newline. */
  #partial = 0;
  #nextLine = 1;
  /** Whole lines. */
  whole = 0;

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** Adds a chunk; gives the batches that it fills. */
  *add(chunk: Uint8Array): Generator<LineBatch> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, end + 1)) {
      this.#push(chunk.subarray(start, end + 1));
      this.#partial = 0;
      this.whole += 1;
      start = end + 1;
      if (this.whole === BATCH_LINES || this.#bytes >= BATCH_BYTES) yield this.take();
    }
    const rest = chunk.subarray(start);
    this.#push(rest);
    this.#partial += rest.length;
    if (this.#partial > this.#maxLineBytes) {
      const line = this.#nextLine + this.whole;
      throw new CosiftError('too_large', `line ${line} is longer than ${this.#maxLineBytes} bytes`);
    }
  }

  /** The whole lines; what follows the last newline stays. */
  take(): LineBatch {
    const all = Buffer.concat(this.#chunks);
    const end = all.length - this.#partial;
    const batch = { bytes: all.subarray(0, end), firstLine: this.#nextLine, lines: this.whole };
    this.#chunks = [];
    this.#bytes = 0;
    this.#push(all.subarray(end));
    this.#nextLine += this.whole;
    this.whole = 0;
    return batch;
  }

  /** Counts what follows the last newline as a line; true when there are lines to take. */
  finish(): boolean {
    if (this.#partial > 0) this.whole += 1;
    this.#partial = 0;
    return this.whole > 0;
  }

  #push(part: Uint8Array): void {
    if (part.length === 0) return;
    this.#chunks.push(part);
    this.#bytes += part.length;
  }
}
