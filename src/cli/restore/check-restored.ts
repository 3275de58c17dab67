import { unlessAborted } from '../../async/until-aborted.js';
import { CosiftError } from '../../errors.js';
import { type Changes, parseJson } from '../../schema/index.js';
import type { Manifest } from '../../store/archive/index.js';
import type { RecordStore } from '../../store/record-store.js';

/**
 * Loads every database of a directory that was extracted, which reads each record and compares it with its checksum,
 * and compares the databases with the manifest. Each database gets a new epoch of its change feed and index files.
 *
 * Returns the new epochs, by database.
 *
 * @throws {CosiftError} `damaged`; `disk_full`.
 */
export async function checkRestored(
  store: RecordStore,
  { databases }: Manifest,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  await unlessAborted(store.load(), signal);
  for (const { id, problem } of await store.progress()) {
    if (problem !== undefined) throw failureOf(id, problem);
  }
  const epochs = new Map<string, string>();
  const described = new Map((await store.listDatabases()).map((database) => [database.id, database]));
  for (const { id, records, position, model, fingerprint, dimensions } of databases) {
    const found = described.get(id);
    const isSame =
      found?.records === records &&
      found.model === model &&
      found.fingerprint === fingerprint &&
      found.dimensions === dimensions;
    if (!isSame) throw damaged(id, 'it is not the database that the manifest describes');
    const feed = parseJson<Changes>(await store.changes(id, { after: position, limit: 1 }));
    if (feed.changes.length > 0)
      throw damaged(id, 'its change feed goes on after the position in the manifest');
    epochs.set(id, feed.epoch);
  }
  return epochs;
}

/** A full disk says nothing about the archive. */
function failureOf(id: string, { code, detail }: { code: string; detail: string }): CosiftError {
  return code === 'disk_full' ? new CosiftError(code, detail) : damaged(id, detail);
}

function damaged(id: string, reason: string): CosiftError {
  return new CosiftError('damaged', `database "${id}" of the archive is damaged: ${reason}`);
}
