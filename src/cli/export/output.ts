import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { escaped, printableLines } from '../failure.js';
import { writeBytes } from '../output.js';
import type { OutputFile } from '../output-file.js';

export interface OutputOptions {
  /** Undefined: standard output. */
  file: OutputFile | undefined;
  gzip: boolean;
  signal: AbortSignal;
}

/** As any new file: the umask says who may read it. */
const MODE = 0o666;

export async function writeOutput(bytes: AsyncIterable<Uint8Array>, options: OutputOptions): Promise<void> {
  const { file, gzip, signal } = options;
  if (file === undefined) return await writeBytes(bytes, signal);
  const write = async (stream: Writable) => {
    if (gzip) await pipeline(bytes, createGzip(), stream, { signal });
    else await pipeline(bytes, stream, { signal });
  };
  await file.fill(write, MODE);
}

/** Yields lines of NDJSON or CSV so that they do not control the terminal; those of NDJSON keep their meaning. */
export async function* forTerminal(
  chunks: AsyncIterable<Uint8Array>,
  format: 'ndjson' | 'csv',
): AsyncGenerator<Uint8Array, void, undefined> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const show = format === 'ndjson' ? escaped : printableLines;
  for await (const chunk of chunks) yield Buffer.from(show(decoder.decode(chunk, { stream: true })));
}
