import { mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { DataLock, LOCK_FILE } from '../../databases/index.js';
import { CosiftError } from '../../errors.js';
import { syncDirectory } from '../../platform/platform.js';
import { OTHER_FILES, RESTORE_DIRECTORY } from '../../store/archive/index.js';

/** What a restore that was killed may have left. The databases take their place last. */
const LEFTOVERS: readonly string[] = [RESTORE_DIRECTORY, ...OTHER_FILES];

/**
 * A data directory that is restored, with its lock. Its files are in {@link staging} until all of them are checked.
 */
export class RestoreTarget {
  readonly directory: string;
  readonly staging: string;
  readonly #lock: DataLock;
  /** The first directory that did not exist; undefined when the data directory existed. */
  readonly #created: string | undefined;
  /** What has its place in the data directory. */
  readonly #moved: string[] = [];

  private constructor(directory: string, lock: DataLock, created: string | undefined) {
    this.directory = directory;
    this.staging = path.join(directory, RESTORE_DIRECTORY);
    this.#lock = lock;
    this.#created = created;
  }

  /**
   * Prepares a missing or empty directory, or one that an unfinished restore left.
   *
   * @throws {CosiftError} `invalid_request` for any other directory; `data_locked` while another process uses it.
   */
  static async prepare(directory: string): Promise<RestoreTarget> {
    const created = await mkdir(directory, { recursive: true, mode: 0o700 }).catch((error) => {
      if (!['EEXIST', 'ENOTDIR'].includes(error.code)) throw error;
      throw new CosiftError('invalid_request', `${directory} is not a directory, or is inside of a file`);
    });
    // Nothing is written into a directory that cannot be restored, not even a lock file.
    await refuseOthers(directory);
    const target = new RestoreTarget(directory, await lockOf(directory, created), created);
    try {
      // Another process may have used the directory before this one had its lock.
      await refuseOthers(directory);
    } catch (error) {
      target.#lock.release();
      throw error;
    }
    try {
      for (const name of OTHER_FILES) await rm(path.join(directory, name), { force: true });
      await rm(target.staging, { recursive: true, force: true });
      await mkdir(target.staging, { mode: 0o700 });
    } catch (error) {
      await target.abandon();
      throw error;
    }
    return target;
  }

  /** Moves the checked files to their place. A process that is killed leaves either all databases or none. */
  async complete(): Promise<void> {
    const { directory, staging } = this;
    await syncDirectories(staging);
    const staged = await readdir(staging);
    for (const name of OTHER_FILES.filter((name) => staged.includes(name))) await this.#move(name);
    await syncDirectory(directory);
    await this.#move('databases');
    await syncDirectory(directory);
    await rm(staging, { recursive: true, force: true });
    await syncDirectory(directory);
    this.#lock.release();
  }

  /** Removes everything that the restore made. A lock file stays in a directory that existed. */
  async abandon(): Promise<void> {
    const { directory } = this;
    try {
      for (const name of [...this.#moved, RESTORE_DIRECTORY]) {
        await rm(path.join(directory, name), { recursive: true, force: true });
      }
      if (this.#created !== undefined) await rm(path.join(directory, LOCK_FILE), { force: true });
    } finally {
      this.#lock.release();
    }
    // A directory above may have got other content meanwhile.
    if (this.#created !== undefined) await rmdir(directory).catch(() => undefined);
  }

  async #move(name: string): Promise<void> {
    await rename(path.join(this.staging, name), path.join(this.directory, name));
    this.#moved.push(name);
  }
}

async function lockOf(directory: string, created: string | undefined): Promise<DataLock> {
  try {
    return DataLock.take(directory);
  } catch (error) {
    // A lock file that is there may be the one of another process.
    if (created !== undefined) await rmdir(directory).catch(() => undefined);
    throw error;
  }
}

/** @throws {CosiftError} `invalid_request` when the directory has more than what an unfinished restore left. */
async function refuseOthers(directory: string): Promise<void> {
  // The root of a file system has the directory lost+found.
  const entries = (await readdir(directory)).filter((name) => name !== 'lost+found' && name !== LOCK_FILE);
  const isUnfinished =
    entries.includes(RESTORE_DIRECTORY) && entries.every((name) => LEFTOVERS.includes(name));
  if (entries.length === 0 || isUnfinished) return;
  const detail = `${directory} is not empty: restore into a new or an empty directory`;
  throw new CosiftError('invalid_request', detail);
}

/** Makes the names in a directory and in its subdirectories durable. */
async function syncDirectories(directory: string): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    if (entry.isDirectory()) await syncDirectories(path.join(directory, entry.name));
  }
  await syncDirectory(directory);
}
