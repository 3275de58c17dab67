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

const NEWLINE = 0x0a;

/**
 * Cuts a stream into batches of whole lines, reading on only as batches are taken.
 *
 * @throws {CosiftError} `too_large` for a line longer than `maxLineBytes`, with its number.
 */
export async function* batchesOfLines(
  chunks: AsyncIterable<Uint8Array>,
  maxLineBytes: number,
): AsyncGenerator<LineBatch> {
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  let pendingLines = 0;
  let partialBytes = 0;
  let line = 1;

  const take = (): LineBatch => {
    const batch = { bytes: Buffer.concat(pending), firstLine: line, lines: pendingLines };
    line += pendingLines;
    pending = [];
    pendingBytes = 0;
    pendingLines = 0;
    return batch;
  };

  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, end + 1)) {
      pendingLines += 1;
      pendingBytes += end + 1 - start;
      partialBytes = 0;
      if (pendingLines >= BATCH_LINES || pendingBytes >= BATCH_BYTES) {
        pending.push(chunk.subarray(start, end + 1));
        start = end + 1;
        yield take();
      }
    }
    const rest = chunk.subarray(start);
    pending.push(rest);
    const lastNewline = rest.lastIndexOf(NEWLINE);
    partialBytes = lastNewline < 0 ? partialBytes + rest.length : rest.length - lastNewline - 1;
    pendingBytes = pending.reduce((sum, part) => sum + part.length, 0);
    if (partialBytes > maxLineBytes) {
      const detail = `line ${line + pendingLines} is longer than ${maxLineBytes} bytes`;
      throw new CosiftError('too_large', detail);
    }
  }
  if (pendingBytes > 0) {
    if (partialBytes > 0) pendingLines += 1;
    yield take();
  }
}
