import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import { recordsOfCsv } from './csv.js';

export type Bad = (line: number, detail: string) => void;

/** A file of records as NDJSON chunks, counted as they are read. */
export interface Input {
  chunks: AsyncIterable<Uint8Array>;
  /** Bytes of the file; undefined for a pipe. */
  size: number | undefined;
  /** Of the file, so far. */
  read: { bytes: number; records: number };
  /** The line of the file that holds the `n`-th line of `chunks`, both from 1. */
  lineOf(n: number): number;
}

/**
 * Opens `file`, or standard input for `-`, as CSV when it is named so and as NDJSON otherwise. Once `stop` is
 * aborted the chunks end with an error, even while a pipe says nothing.
 */
export async function openInput(file: string, onBad: Bad, stop: AbortSignal): Promise<Input> {
  const pipe = file === '-';
  const size = pipe ? undefined : (await stat(file)).size;
  const read = { bytes: 0, records: 0 };
  const stream = pipe ? process.stdin : createReadStream(file, { highWaterMark: 1 << 18 });
  const bytes = counted(addAbortSignal(stop, stream), read);
  if (!/\.csv$/i.test(file)) {
    return { chunks: countLines(bytes, read), size, read, lineOf: (n) => n };
  }
  const lines: number[] = [];
  return {
    chunks: csvLines(recordsOfCsv(bytes, onBad), read, lines),
    size,
    read,
    lineOf: (n) => lines[n - 1] ?? n,
  };
}

async function* counted(chunks: AsyncIterable<Uint8Array>, read: Input['read']): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    read.bytes += chunk.length;
    yield chunk;
  }
}

async function* countLines(
  chunks: AsyncIterable<Uint8Array>,
  read: Input['read'],
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) read.records += 1;
    yield chunk;
  }
}

async function* csvLines(
  records: ReturnType<typeof recordsOfCsv>,
  read: Input['read'],
  lines: number[],
): AsyncGenerator<Uint8Array> {
  for await (const { json, line } of records) {
    lines.push(line);
    read.records += 1;
    yield Buffer.from(`${json}\n`);
  }
}
