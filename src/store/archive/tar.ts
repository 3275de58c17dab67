import { ReadableStream } from 'node:stream/web';
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar';
import { packTar } from 'modern-tar/fs';
import { CosiftError } from '../../errors.js';

/** A file to write: `source` is the path of its content, or the content. */
export interface TarSource {
  path: string;
  bytes: number;
  source: string | Uint8Array;
}

export interface TarFile {
  path: string;
  bytes: number;
  content: AsyncIterable<Uint8Array>;
}

const BLOCK = 512;
/** The header of a larger file follows two blocks with its size. */
const MAX_SIZE_IN_HEADER = 8 ** 11 - 1;

/** Returns the length of an archive: headers, contents in whole blocks, and two blocks at the end. */
export function tarBytes(files: readonly TarSource[]): number {
  const blocks = files.map(({ bytes }) => Math.ceil(bytes / BLOCK) + (bytes > MAX_SIZE_IN_HEADER ? 3 : 1));
  return blocks.reduce((sum, count) => sum + count, 2) * BLOCK;
}

/** Writes an archive of files that only their owner can read. */
export function writeTar(files: readonly TarSource[]): AsyncIterable<Uint8Array> {
  const header = { mode: 0o600, uid: 0, gid: 0, mtime: new Date() };
  return packTar(
    files.map(({ path, source }) =>
      typeof source === 'string'
        ? { ...header, type: 'file', source, target: path }
        : { ...header, type: 'content', content: source, target: path },
    ),
  );
}

/** What the decoder finds wrong after the first entry. */
const REASONS: Readonly<Record<string, string>> = {
  'Tar archive is truncated.': 'it ends early: the archive is not complete',
  'Invalid EOF.': 'it continues after its end',
};

/**
 * Yields the files of an archive in their order. The content of a file must be read before the next file is.
 *
 * @throws {CosiftError} `damaged` for an archive that is not complete, or has anything but regular files.
 */
export async function* readTar(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<TarFile, void, undefined> {
  let isBegun = false;
  let first: Uint8Array | undefined;
  let failure: { error: unknown } | undefined;
  async function* source(): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of chunks) {
        first ??= chunk;
        yield chunk;
      }
    } catch (error) {
      failure = { error };
      throw error;
    }
  }
  async function* checked<T>(items: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
    try {
      yield* items;
    } catch (error) {
      if (failure !== undefined) throw failure.error;
      const isGzip = first?.[0] === 0x1f && first[1] === 0x8b;
      const start = isGzip ? 'it is compressed: decompress it first, with gunzip' : 'it is not a tar archive';
      const reason = (isBegun && REASONS[(error as Error).message]) || start;
      throw new CosiftError('damaged', reason, { cause: error });
    }
  }
  const decoder = createTarDecoder({ strict: true });
  const entries: AsyncIterable<ParsedTarEntry> = ReadableStream.from(source()).pipeThrough(decoder);
  for await (const { header, body } of checked(entries)) {
    isBegun = true;
    if (header.type !== 'file') {
      throw new CosiftError('damaged', `${JSON.stringify(header.name)} is not an entry that a backup has`);
    }
    yield { path: header.name, bytes: header.size, content: checked(body) };
  }
}
