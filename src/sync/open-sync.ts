import type { DatabaseService, SyncHold, SyncTarget } from '../databases/index.js';
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

/** Returns the status of a sync, by what it has stored. */
export async function readSyncStatus(
  { aliases, writer }: Databases,
  database: string,
  name: string,
): Promise<SyncStatus> {
  return storedStatus(await writer.syncPosition(await aliases.resolve(database), { name }));
}

/**
 * Forgets the sync of a target, and with `deleteRecords` deletes its records. Returns how many were deleted.
 *
 * @throws {CosiftError} `invalid_request` where the database has neither its state nor its records.
 */
export async function removeSync(
  target: SyncTarget,
  { name, deleteRecords, signal }: { name: string; deleteRecords: boolean; signal: AbortSignal },
): Promise<number> {
  let hold: SyncHold | undefined;
  try {
    hold = await target.hold(signal);
    const { epoch, version, ...position } = await target.state();
    const { state, records } = storedStatus(position);
    if (state === 'new' && records === 0) {
      throw new CosiftError('invalid_request', `the database has nothing of a source "${name}"`);
    }
    const chosen = deleteRecords ? { unwritten: { version, prefix: `${name}/` } } : { ids: [] };
    return await target.remove({ ...chosen, epoch, state: { name, text: 'null' } }, { signal });
  } finally {
    await hold?.release();
    await target.release();
  }
}

/**
 * Opens the target of a sync.
 *
 * @throws {CosiftError} `busy` while the database has another open sync of the name.
 */
export async function openTarget(
  { aliases, writer }: Databases,
  database: string,
  name: string,
): Promise<SyncTarget> {
  return writer.openSync(await aliases.resolve(database), name);
}
