import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { batchesOfLines } from '../../src/async/line-batches.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Memory that is in use, in bytes. */
function used(): number {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

test('a long line in chunks of one byte takes memory for its bytes only', async () => {
  const bytes = 500_000;
  let before = 0;
  let after = 0;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    before = used();
    for (let i = 0; i < bytes; i++) yield Buffer.alloc(1, 'a');
    after = used();
    yield Buffer.from('\n');
  }
  const lines: number[] = [];
  for await (const { bytes: line } of batchesOfLines(chunks(), 1 << 20)) lines.push(line.length);
  expect(lines).toEqual([bytes + 1]);
  // One object for each chunk would take 90 MB.
  expect(after - before).toBeLessThan(10_000_000);
});

test('lines are the same in chunks of any size', async () => {
  const text = 'one\n\ntoo long a line\nfour\r\nfive';
  const batches = async (size: number) => {
    async function* chunks(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < text.length; at += size) yield Buffer.from(text.slice(at, at + size));
    }
    const lines = { text: '', lines: 0, tooLong: [] as number[], first: [] as number[] };
    for await (const batch of batchesOfLines(chunks(), 8)) {
      lines.text += Buffer.from(batch.bytes).toString();
      if (lines.lines + 1 !== batch.firstLine) lines.first.push(batch.firstLine);
      lines.lines += batch.lines;
      lines.tooLong.push(...batch.tooLong);
    }
    return lines;
  };
  for (let size = 1; size <= text.length; size++) {
    expect(await batches(size)).toEqual({
      text: 'one\n\n\nfour\r\nfive\n',
      lines: 5,
      tooLong: [3],
      first: [],
    });
  }
});
