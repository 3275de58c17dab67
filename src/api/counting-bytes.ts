import type { BackupOptions } from './options.js';

/**
 * Yields the chunks of an archive of `total` bytes, and reports the progress before the first and with each. Throws when
 * there are fewer bytes.
 */
export async function* countingBytes(
  chunks: AsyncIterable<Uint8Array>,
  total: number,
  onProgress: BackupOptions['onProgress'],
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0;
  onProgress?.({ bytes, total });
  for await (const chunk of chunks) {
    bytes += chunk.length;
    onProgress?.({ bytes, total });
    yield chunk;
  }
  if (bytes < total) throw new Error('the connection was closed before the end of the response');
}
