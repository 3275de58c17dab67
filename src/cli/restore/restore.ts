import path from 'node:path';
import { writeWebhooks } from '../../server/webhooks/webhook-file.js';
import type { Manifest } from '../../store/archive/index.js';
import { describe, warn } from '../failure.js';
import { restoredWebhooks } from '../migrate/continued-webhooks.js';
import { openDirectoryEndpoint } from '../migrate/directory-endpoint.js';
import { checkRestored } from './check-restored.js';
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
    await prepareExtracted(staging, manifest, signal);
    signal.throwIfAborted();
    await target.complete();
    return manifest;
  } catch (error) {
    await target.abandon();
    throw error;
  }
}

/** Checks what was extracted, and lets its webhooks go on. */
async function prepareExtracted(directory: string, manifest: Manifest, signal: AbortSignal): Promise<void> {
  // The service reports a damaged file, too, and the records do not depend on it.
  const warnOf = (what: string) => (error: unknown) =>
    warn(`the ${what} cannot be read: ${describe(error).replaceAll(`${directory}${path.sep}`, '')}`);
  const { store, keys, webhooks, close } = await openDirectoryEndpoint(directory);
  try {
    await keys.read().catch(warnOf('keys'));
    const epochs = await checkRestored(store, manifest, signal);
    const stored = await webhooks().catch(warnOf('webhooks'));
    if (!stored?.length) return;
    const continued = restoredWebhooks(stored, manifest.databases, epochs);
    await writeWebhooks(path.join(directory, 'webhooks.json'), continued);
  } finally {
    await close();
  }
}
