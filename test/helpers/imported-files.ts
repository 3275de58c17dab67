import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Input, InputOptions } from '../../src/readers/input.js';
import { openInput as open } from '../../src/readers/open-input.js';
import { openSource } from '../../src/readers/source.js';
import { temporaryDirectory } from './processes.js';

/** Writes a file, and opens it as `cosift import` does. */
export async function openFile(
  content: string | Uint8Array,
  options: InputOptions = {},
): Promise<{ input: Input; file: string }> {
  const file = join(await temporaryDirectory(), 'file');
  await writeFile(file, content);
  return { file, input: await openInput(file, options) };
}

export async function openInput(file: string, options: InputOptions = {}): Promise<Input> {
  const source = await openSource(file, new AbortController().signal);
  return open(source, options, () => undefined);
}

type Sent = { id?: number; uuid?: string; data: Record<string, unknown>; vector?: number[] };

/** Reads all records of an input, and the reports on the rows that are none. */
export async function recordsOf(input: Input): Promise<{ records: Sent[]; bad: string[] }> {
  const records: Sent[] = [];
  const bad: string[] = [];
  for await (const rows of input.records(({ line }, reason) => bad.push(`${line}: ${reason}`))) {
    for (const { json } of rows) records.push(JSON.parse(Buffer.from(json).toString()));
  }
  return { records, bad };
}

/** A zstd stream of blocks that are not compressed (RFC 8878), because the zlib of Node 20 has no zstd. */
export function zstd(content: Uint8Array): Uint8Array {
  const BLOCK = 100_000;
  // Magic number; no checksum, no content size; a window of 8 MiB.
  const parts: Uint8Array[] = [Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x68)];
  for (let at = 0; at < Math.max(1, content.length); at += BLOCK) {
    const block = content.subarray(at, at + BLOCK);
    const header = (block.length << 3) | (at + BLOCK >= content.length ? 1 : 0);
    parts.push(Uint8Array.of(header & 0xff, (header >> 8) & 0xff, header >> 16), block);
  }
  return Buffer.concat(parts);
}
