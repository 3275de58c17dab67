import { closeSync, createWriteStream, fstatSync, openSync, read } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import type { AsyncBuffer } from 'hyparquet';
import { isFull, noRoom, openUnnamedFile } from '../../files/unnamed-file.js';

const readAt = promisify(read);

/**
 * Copies a stream to a temporary file, so that it can be read from any place.
 *
 * @throws {Error} with the directory when it is full.
 */
export async function temporaryCopy(chunks: AsyncIterable<Uint8Array>): Promise<AsyncBuffer> {
  const descriptor = await openUnnamedFile();
  try {
    await pipeline(chunks, createWriteStream('', { fd: descriptor, autoClose: false }));
  } catch (error) {
    closeSync(descriptor);
    throw isFull(error) ? noRoom(error) : error;
  }
  return bufferOf(descriptor);
}

/** Opens a file, so that it can be read from any place. It stays open until the process ends. */
export function openFile(file: string): AsyncBuffer {
  return bufferOf(openSync(file, 'r'));
}

function bufferOf(descriptor: number): AsyncBuffer {
  const { size } = fstatSync(descriptor);
  return {
    byteLength: size,
    async slice(start, end = size) {
      const bytes = new Uint8Array(end - start);
      for (let at = 0; at < bytes.length; ) {
        const { bytesRead } = await readAt(descriptor, bytes, at, bytes.length - at, start + at);
        if (bytesRead === 0) throw new Error('the file became shorter while it was read');
        at += bytesRead;
      }
      return bytes.buffer;
    },
  };
}
