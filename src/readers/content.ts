import { type Compression, compressionOf, decompressed } from './encoding/decompress.js';
import { PeekableStream } from './peekable-stream.js';
import type { Source } from './source.js';

/** The bytes of a source, decompressed. */
export interface Content {
  /** The first bytes. */
  magic: Uint8Array;
  compression: Compression | undefined;
  /** Opens the bytes from the beginning; for a pipe, only the first call. */
  open(): PeekableStream;
}

const MAGIC_BYTES = 16;

export async function openContent(source: Source): Promise<Content> {
  const raw = new PeekableStream(source.read());
  const head = await raw.peek(MAGIC_BYTES);
  const compression = compressionOf(head);
  const unpacked = (stream: PeekableStream) =>
    compression === undefined ? stream : new PeekableStream(decompressed(stream.chunks(), compression));
  if (source.file === undefined) {
    const stream = unpacked(raw);
    return { magic: await stream.peek(MAGIC_BYTES), compression, open: () => stream };
  }
  await raw.close();
  const open = () => unpacked(new PeekableStream(source.read()));
  const first = open();
  const magic = await first.peek(MAGIC_BYTES);
  await first.close();
  return { magic, compression, open };
}
