import { CosiftError } from '../../errors.js';
import type { MigrationSupport } from '../../store/migration-support.js';
import type { RecordStore } from '../../store/record-store.js';
import { checkSameSettings, settingsIn } from '../../store/settings.js';
import { copyFeed } from './copy-feed.js';
import { type CopyResult, copyRecords, type RecordSource } from './copy-records.js';

/** Passes over a database that is being written to, before the migration gives up. */
const MAX_PASSES = 10;

export interface MigrationCall {
  signal?: AbortSignal | undefined;
  /** Called with the records of the source that this pass has compared; the first pass copies, the last one verifies. */
  onProgress?: ((pass: number, done: number, records: number) => void) | undefined;
}

export interface MigratedDatabase extends Omit<CopyResult, 'written' | 'changed'> {
  /** Whether followers of the change feed go on after their position. */
  hasFeed: boolean;
}

export interface MigrationTarget {
  store: RecordStore;
  /** Undefined for a store that has no more than its records; its change feed begins again. */
  support: MigrationSupport | undefined;
}

/**
 * Creates a database of `source` in `target`, or gives it the settings of `source` there.
 *
 * @throws {CosiftError} `database_exists` when its records would have other vectors.
 */
export async function createTarget(source: RecordSource, target: RecordStore, id: string): Promise<void> {
  const settings = settingsIn(await source.describeDatabase(id));
  const { created, database } = await target.createDatabase(id, settings);
  if (created) return;
  const { model, fingerprint, dimensions, embed } = settings;
  checkSameSettings(database, { model, fingerprint, dimensions, embed });
  await target.changeSettings(id, () => settings);
}

/**
 * Makes a database of `target` equal to that of `source`, and verifies it: passes are made until one finds no
 * difference, or few whose records are then read again. After an interruption, the next call goes on.
 *
 * @throws {CosiftError} `busy` when the source does not stop changing.
 */
export async function migrateDatabase(
  source: RecordStore,
  { store: target, support }: MigrationTarget,
  database: string,
  { signal, onProgress }: MigrationCall,
): Promise<MigratedDatabase> {
  for (let pass = 1; pass <= MAX_PASSES; pass++) {
    const { records, times } = await source.describeDatabase(database);
    const { written, changed, ...copied } = await copyRecords(source, target, database, {
      signal,
      onProgress: (done) => onProgress?.(pass, done, records),
    });
    // Records that were written to the source during the pass are in the next one.
    const isUnchanged = (await source.describeDatabase(database)).times.last_write_at === times.last_write_at;
    if (written > 0 && !(isUnchanged && (await changed.areStored(support)))) continue;
    if (support === undefined && (await keepIds(source, target, database))) continue;
    const counted = (await target.describeDatabase(database)).records;
    if (counted !== copied.records) {
      throw new CosiftError('damaged', `the target counts ${counted} records of ${copied.records}`);
    }
    if (support !== undefined) await copyFeed(source, support, database);
    // The feed must not have a change whose record is not in the target.
    if ((await source.describeDatabase(database)).times.last_write_at !== times.last_write_at) continue;
    return { ...copied, hasFeed: support !== undefined };
  }
  const detail = `database "${database}" is being written to: stop the services of the source, then run it again`;
  throw new CosiftError('busy', detail);
}

/**
 * Advances the next id of a target that keeps its own change feed to that of the source, so that no id is given twice:
 * stores a record with the last id, and deletes it. Returns whether that was necessary.
 */
async function keepIds(source: RecordStore, target: RecordStore, database: string): Promise<boolean> {
  const nextId = await source.nextId(database);
  if ((await target.nextId(database)) >= nextId) return false;
  const { dimensions, fingerprint } = await source.describeDatabase(database);
  const vector = Array.from({ length: dimensions }, () => 1);
  // With a model, a record without text has no vector.
  const line = { id: nextId - 1, data: {}, ...(fingerprint === null && { vector }) };
  const prepared = await target.prepareLines(database, Buffer.from(`${JSON.stringify(line)}\n`), 1);
  await target.commit(database, prepared, { vectors: new Float32Array() });
  await target.deleteRecords(database, { ids: [nextId - 1] });
  return true;
}
