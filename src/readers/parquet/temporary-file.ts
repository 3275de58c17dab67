import { closeSync, createWriteStream, fstatSync, openSync, read, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import type { AsyncBuffer } from 'hyparquet';

const readAt = promisify(read);

/**
 * Copies a stream to a temporary file, so that it can be read from any place. The name of the file is removed at once:
 * the system frees the file when the process ends, whatever ends it.
 *
 * @throws {Error} with the directory when it is full.
 */
export async function temporaryCopy(chunks: AsyncIterable<Uint8Array>): Promise<AsyncBuffer> {
  const directory = await mkdtemp(path.join(tmpdir(), 'cosift-import-'));
  const file = path.join(directory, 'data');
  const descriptor = openSync(file, 'wx+', 0o600);
  rmSync(directory, { recursive: true });
  try {
    await pipeline(chunks, createWriteStream(file, { fd: descriptor, autoClose: false }));
  } catch (error) {
    closeSync(descriptor);
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    const advice = 'set TMPDIR to a directory with more room';
    throw new Error(`there is no room in ${tmpdir()} for a temporary copy: ${advice}`, { cause: error });
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
