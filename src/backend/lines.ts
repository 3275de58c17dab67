import { setTimeout as sleep } from 'node:timers/promises';

/** Whole lines of a stream, for one commit. */
export interface LineBatch {
  bytes: Uint8Array;
  /** Number of the first line, 1 for the first of the stream. */
  firstLine: number;
  lines: number;
  /** Numbers of the lines that were too long; `bytes` has them as empty ones. */
  tooLong: number[];
}

/** Lines that share a commit. More make the import no faster, and a bad record would undo more work. */
const BATCH_LINES = 256;

/** Bytes that share a commit, unless one line alone is longer. */
const BATCH_BYTES = 1 << 20;

/** How long whole lines wait for others to share their commit. */
const PAUSE_MS = 50;

const NEWLINE = 0x0a;
const LINE_END = Uint8Array.of(NEWLINE);

/**
 * Cuts a stream into batches of whole lines, reading on only as batches are taken.
 *
 * A batch is full, or the stream has paused after its last line. Of a line longer than `maxLineBytes` only its
 * number is kept.
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
  #wholeLines: Uint8Array[] = [];
  #wholeBytes = 0;
  #tooLong: number[] = [];
  /** What is there of the next line, unless it is too long already. */
  #line: Uint8Array[] = [];
  #lineBytes = 0;
  #nextLine = 1;
  /** Whole lines. */
  whole = 0;

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** Adds a chunk; gives the batches that it fills. */
  *add(chunk: Uint8Array): Generator<LineBatch> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#extend(chunk.subarray(start, end));
      this.#endLine();
      start = end + 1;
      if (this.whole === BATCH_LINES || this.#wholeBytes >= BATCH_BYTES) yield this.take();
    }
    this.#extend(chunk.subarray(start));
  }

  /** The whole lines; what follows the last newline stays. */
  take(): LineBatch {
    const bytes = Buffer.concat(this.#wholeLines);
    const batch = { bytes, firstLine: this.#nextLine, lines: this.whole, tooLong: this.#tooLong };
    this.#wholeLines = [];
    this.#wholeBytes = 0;
    this.#tooLong = [];
    this.#nextLine += this.whole;
    this.whole = 0;
    return batch;
  }

  /** Counts what follows the last newline as a line; true when there are lines to take. */
  finish(): boolean {
    if (this.#lineBytes > 0) this.#endLine();
    return this.whole > 0;
  }

  #extend(part: Uint8Array): void {
    if (part.length === 0) return;
    this.#lineBytes += part.length;
    if (this.#lineBytes <= this.#maxLineBytes) this.#line.push(part);
    else this.#line = [];
  }

  #endLine(): void {
    if (this.#lineBytes > this.#maxLineBytes) this.#tooLong.push(this.#nextLine + this.whole);
    for (const part of this.#line) this.#wholeLines.push(part);
    this.#wholeLines.push(LINE_END);
    this.#wholeBytes += this.#lineBytes + LINE_END.length;
    this.#line = [];
    this.#lineBytes = 0;
    this.whole += 1;
  }
}
