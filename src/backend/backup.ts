import { LinkedAbort } from '../async/linked-abort.js';
import { untilAborted } from '../async/until-aborted.js';
import { CosiftError } from '../errors.js';
import type { RecordStore } from '../store/record-store.js';
import type { BackupArchive } from './backend.js';

/**
 * Makes an archive of a store. An aborted signal releases it, because a reader that stalls does not. `end` is called once,
 * when the archive is released or could not be made.
 */
export async function beginBackup(
  store: RecordStore,
  database: string | undefined,
  signals: readonly (AbortSignal | undefined)[],
  end: () => void,
): Promise<BackupArchive> {
  const stop = new LinkedAbort(...signals);
  const { signal } = stop;
  try {
    if (store.backup === undefined) {
      throw new CosiftError(
        'invalid_request',
        'a PostgreSQL database is backed up with its own tools, such as pg_dump',
      );
    }
    const made = await store.backup(database, signal);
    let released: Promise<void> | undefined;
    const release = () => {
      stop.unlink();
      released ??= made.release().finally(end);
      return released;
    };
    signal.addEventListener('abort', () => void release().catch(() => undefined), { once: true });
    return { bytes: made.bytes, chunks: untilAborted(made.chunks, signal), release };
  } catch (error) {
    stop.unlink();
    end();
    throw signal.aborted ? signal.reason : error;
  }
}
