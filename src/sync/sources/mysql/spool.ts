import { close, read, write } from 'node:fs';
import { promisify } from 'node:util';
import { CosiftError } from '../../../errors.js';
import { isFull, noRoom, openUnnamedFile } from '../../../files/unnamed-file.js';
import type { TextRow } from '../text-rows.js';

const writeAll = promisify(write);
const readPart = promisify(read);
const closeFile = promisify(close);

/**
 * Reads all rows before it yields the first of them, so that their transaction is short, however long the rows take to be
 * embedded. More than one batch goes through a temporary file.
 */
export async function* spooled(batches: AsyncIterable<TextRow[]>): AsyncGenerator<TextRow[]> {
  const lengths: number[] = [];
  let last: TextRow[] | undefined;
  let file: number | undefined;
  try {
    for await (const batch of batches) {
      if (last !== undefined) {
        file ??= await openUnnamedFile();
        const bytes = Buffer.from(JSON.stringify(last));
        for (let at = 0; at < bytes.length; ) at += (await writeAll(file, bytes, at)).bytesWritten;
        lengths.push(bytes.length);
      }
      last = batch;
    }
    let place = 0;
    for (const length of lengths) {
      yield JSON.parse(await textAt(file as number, place, length));
      place += length;
    }
    if (last !== undefined) yield last;
  } catch (error) {
    throw isFull(error)
      ? new CosiftError('source_unavailable', noRoom(error).message, { cause: error })
      : error;
  } finally {
    if (file !== undefined) await closeFile(file);
  }
}

async function textAt(file: number, place: number, length: number): Promise<string> {
  const bytes = Buffer.allocUnsafe(length);
  for (let at = 0; at < length; ) {
    const { bytesRead } = await readPart(file, bytes, at, length - at, place + at);
    if (bytesRead === 0) throw new Error('a temporary file became shorter while it was read');
    at += bytesRead;
  }
  return bytes.toString();
}
