import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Decompress } from 'fzstd';
import { ZstdFrames } from './zstd-frames.js';

/** How a file is compressed, by its first bytes. */
export type Compression = 'gzip' | 'zstd';

/** Compressed bytes that are decompressed at once: a block of 128 KiB may take 4 bytes. */
const ZSTD_STEP = 512;
/** The limit of the command `zstd`. */
const MAX_ZSTD_WINDOW = 128 << 20;

export function compressionOf(head: Uint8Array): Compression | undefined {
  if (head[0] === 0x1f && head[1] === 0x8b) return 'gzip';
  return head[0] === 0x28 && head[1] === 0xb5 && head[2] === 0x2f && head[3] === 0xfd ? 'zstd' : undefined;
}

/** Decompresses a stream in bounded memory. Throws for a stream that is damaged or cut off. */
export function decompressed(
  chunks: AsyncIterable<Uint8Array>,
  compression: Compression,
): AsyncIterable<Uint8Array> {
  return compression === 'gzip' ? gunzipped(chunks) : zstdDecompressed(chunks);
}

async function* gunzipped(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const source = Readable.from(chunks);
  const gunzip = createGunzip({ chunkSize: 1 << 18 });
  source.on('error', (error) => gunzip.destroy(error));
  try {
    yield* source.pipe(gunzip) as AsyncIterable<Uint8Array>;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code?.startsWith('Z_') !== true) throw error;
    throw new Error(`the gzip data is damaged or cut off: ${(error as Error).message}`);
  } finally {
    source.destroy();
  }
}

async function* zstdDecompressed(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let blocks: Uint8Array[] = [];
  const decompress = new Decompress((block) => {
    if (block.length > 0) blocks.push(block.slice());
  });
  const frames = new ZstdFrames();
  for await (const chunk of chunks) {
    if (frames.largestWindow(chunk) > MAX_ZSTD_WINDOW) {
      throw new Error(
        'the zstd data needs a window of more than 128 MB: decompress it with `zstd -d --long=31`',
      );
    }
    for (let at = 0; at < chunk.length; at += ZSTD_STEP) {
      push(decompress, chunk.subarray(at, at + ZSTD_STEP), false);
      if (blocks.length > 0) yield Buffer.concat(blocks);
      blocks = [];
    }
  }
  push(decompress, new Uint8Array(), true);
  if (blocks.length > 0) yield Buffer.concat(blocks);
}

function push(decompress: Decompress, bytes: Uint8Array, isLast: boolean): void {
  try {
    decompress.push(bytes, isLast);
  } catch (error) {
    throw new Error(`the zstd data is damaged or cut off: ${(error as Error).message}`);
  }
}
