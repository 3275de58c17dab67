import { isUtf8 } from 'node:buffer';
import { batchesOfLines } from '../../async/line-batches.js';
import { LIMITS } from '../../schema/index.js';
import { withoutBom } from '../encoding/utf8.js';
import type { ReadRow } from '../rows.js';
import { rowOfJson } from './row.js';

const NEWLINE = 0x0a;
const noText = () => '';

/** Yields the rows of NDJSON: an object per line. Empty lines are skipped. */
export async function* rowsOfNdjson(
  chunks: AsyncIterable<Uint8Array>,
  idColumn?: string,
): AsyncGenerator<ReadRow[]> {
  for await (const { bytes, firstLine, tooLong } of batchesOfLines(chunks, LIMITS.batch_bytes)) {
    const rows: ReadRow[] = tooLong.map((line) => {
      return { line, raw: noText, reason: `the line is longer than ${LIMITS.batch_bytes} bytes` };
    });
    let line = firstLine;
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      const lineBytes = bytes.subarray(start, end);
      const text = line === 1 ? withoutBom(lineBytes) : lineBytes;
      const json = Buffer.from(text.buffer, text.byteOffset, text.length).toString();
      if (!isUtf8(text)) rows.push({ line, raw: () => text, reason: 'the line is not UTF-8' });
      else if (json.trim() !== '') rows.push(rowOfJson(json.trimEnd(), { line }, idColumn));
      start = end + 1;
      line += 1;
    }
    yield rows;
  }
}
