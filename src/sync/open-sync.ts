import type { DatabaseService, SyncHold } from '../databases/index.js';
import { CosiftError } from '../errors.js';
import type { SyncSource } from './source.js';
import { type OpenSource, Sync, type SyncSettings, type SyncStatus, storedStatus } from './sync.js';

type Databases = Pick<DatabaseService, 'aliases' | 'writer'>;

/**
 * Opens a sync of a database, which is named by its id or by an alias.
 *
 * @throws {CosiftError} `busy` while the database has another open sync of the name.
 */
export async function openSync(
  databases: Databases,
  database: string,
  source: SyncSource | OpenSource,
  settings: SyncSettings,
): Promise<Sync> {
  const target = await openTarget(databases, database, settings.name);
  return new Sync(source, target, settings);
}

/** Returns the status of a sync that is not open in this process. */
export async function readSyncStatus(
  databases: Databases,
  database: string,
  name: string,
): Promise<SyncStatus> {
  const target = await openTarget(databases, database, name);
  try {
    return storedStatus(await target.state());
  } finally {
    target.release();
  }
}

/**
 * Forgets a sync, and with `deleteRecords` deletes its records. Returns how many were deleted.
 *
 * @throws {CosiftError} `invalid_request` where the database has neither its state nor its records.
 */
export async function removeSync(
  databases: Databases,
  database: string,
  { name, deleteRecords, signal }: { name: string; deleteRecords: boolean; signal: AbortSignal },
): Promise<number> {
  const target = await openTarget(databases, database, name);
  let hold: SyncHold | undefined;
  try {
    hold = await target.hold(signal);
    const { epoch, version } = await target.mark();
    const { state, records } = storedStatus(await target.state());
    if (state === 'new' && records === 0) {
      throw new CosiftError('invalid_request', `database "${database}" has nothing of a source "${name}"`);
    }
    const chosen = deleteRecords ? { unwritten: { version, prefix: `${name}/` } } : { ids: [] };
    return await target.remove({ ...chosen, epoch, state: { name, text: 'null' } }, signal);
  } finally {
    await hold?.release();
    target.release();
  }
}

async function openTarget({ aliases, writer }: Databases, database: string, name: string) {
  return writer.openSync(await aliases.resolve(database), name);
}
