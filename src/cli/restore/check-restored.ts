import { openBackend } from '../../backend/index.js';
import { CosiftError } from '../../errors.js';
import { type Changes, parseJson } from '../../schema/index.js';
import type { Manifest } from '../../store/archive/index.js';

/** A read of one change, which does not wait for it. */
const ONE = { limit: 1, waitMs: 0 };

/**
 * Opens every database of a directory that was extracted, which reads each record and compares it with its checksum,
 * and compares the databases with the manifest. Each database gets a new epoch of its change feed and index files.
 *
 * Returns the new epochs, by database.
 *
 * @throws {CosiftError} `damaged`; `disk_full`.
 */
export async function checkRestored(
  directory: string,
  { databases }: Manifest,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const epochs = new Map<string, string>();
  const backend = await openBackend({ directory, resume: false }, { signal });
  try {
    const states = new Map((await backend.databases()).map((state) => [state.id, state]));
    for (const { id, problem } of states.values()) {
      if (problem !== undefined) throw failureOf(id, problem);
    }
    const described = new Map((await backend.listDatabases()).map((database) => [database.id, database]));
    for (const { id, records, position, model, fingerprint, dimensions } of databases) {
      const found = described.get(id);
      const isSame =
        found?.records === records &&
        found.model === model &&
        found.fingerprint === fingerprint &&
        found.dimensions === dimensions;
      if (!isSame) throw damaged(id, 'it is not the database that the manifest describes');
      const feed = parseJson<Changes>(await backend.changes(id, { after: position, ...ONE }));
      if (feed.changes.length > 0)
        throw damaged(id, 'its change feed goes on after the position in the manifest');
      epochs.set(id, feed.epoch);
    }
  } finally {
    await backend.close();
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
