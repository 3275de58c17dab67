import path from 'node:path';
import { readKeys } from '../../server/keys/key-file.js';
import type { Manifest } from '../../store/archive/index.js';
import { describe, warn } from '../failure.js';
import { checkRestored } from './check-restored.js';
import { continueWebhooks } from './continue-webhooks.js';
import { extract } from './extract.js';
import { RestoreTarget } from './restore-target.js';

/**
 * Fills an empty or missing data directory from an archive, and returns what the archive contains. After an error, the
 * directory is as it was.
 *
 * @throws {CosiftError} `invalid_request` for a directory that is not empty and for a newer archive; `damaged`;
 * `disk_full`; `data_locked` while another process uses the directory.
 */
export async function restore(
  chunks: AsyncIterable<Uint8Array>,
  directory: string,
  signal: AbortSignal = new AbortController().signal,
): Promise<Manifest> {
  const target = await RestoreTarget.prepare(directory);
  const { staging } = target;
  try {
    const manifest = await extract(chunks, staging, signal);
    warnOfKeys(staging);
    const epochs = await checkRestored(staging, manifest, signal);
    await continueWebhooks(staging, manifest, epochs).catch((error) => {
      // The service reports the file, too, and the records do not depend on it.
      warn(`the webhooks cannot be read: ${describe(error)}`);
    });
    signal.throwIfAborted();
    await target.complete();
    return manifest;
  } catch (error) {
    await target.abandon();
    throw error;
  }
}

/** The service reports the file, too, and the records do not depend on it. */
function warnOfKeys(directory: string): void {
  try {
    readKeys(path.join(directory, 'keys.json'));
  } catch (error) {
    warn(`the keys cannot be read: ${describe(error).replaceAll(`${directory}${path.sep}`, '')}`);
  }
}
