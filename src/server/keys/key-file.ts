import { readFileSync, statSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import lockfile from 'proper-lockfile';
import { CosiftError } from '../../errors.js';
import { checkSchema } from '../../schema/index.js';
import { type FileKind, parseChecked, writeChecked } from '../files/checked-file.js';
import { removeTemporaries, writeFailure } from '../files/secret-file.js';
import { ADMIN } from './caller.js';
import type { StoredKey } from './key-entry.js';
import type { KeyStorage } from './key-storage.js';

/** The content of `keys.json`. */
export const KEYS_FILE: FileKind<StoredKey> = {
  member: 'keys',
  check: checkStored,
  repair:
    'put a sound copy in its place, or remove it and issue the keys again; until then no issued key is valid',
};

/** A process renews its lock every second, so the process of a lock that is this old has ended. Milliseconds. */
const STALE_MS = 5_000;
const MAX_WAIT_MS = 15_000;
const RETRY_MS = 10;

/** What the file held when it had `stamp`. */
type Reading = { stamp: string | undefined } & ({ keys: readonly StoredKey[] } | { error: unknown });

/** The keys in a file. The file is read again whenever a process has replaced it. */
export class KeyFile implements KeyStorage {
  readonly #file: string;
  #last: Reading | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  /** @throws {CosiftError} `damaged` when the file was changed by another program. */
  async read(): Promise<readonly StoredKey[]> {
    // The stamp is read before the file: a change in between is noticed by the next call.
    const stamp = stampOf(this.#file);
    if (this.#last === undefined || this.#last.stamp !== stamp) this.#last = readingOf(this.#file, stamp);
    if ('error' in this.#last) throw this.#last.error;
    return this.#last.keys;
  }

  /** One process at a time changes the file. */
  async change(change: (keys: StoredKey[]) => StoredKey[]): Promise<void> {
    await withLock(this.#file, (assertHeld) => {
      const keys = change(readKeys(this.#file));
      assertHeld();
      return writeChecked(this.#file, keys, KEYS_FILE);
    });
  }
}

function readingOf(file: string, stamp: string | undefined): Reading {
  try {
    return { stamp, keys: readKeys(file) };
  } catch (error) {
    return { stamp, error };
  }
}

/**
 * Returns the stored keys; none when there is no file.
 *
 * @throws {CosiftError} `damaged`
 */
export function readKeys(file: string): StoredKey[] {
  if (stampOf(file) === undefined) return [];
  return parseChecked(file, readFileSync(file, 'utf8'), KEYS_FILE);
}

/** Returns a text that differs whenever the file was replaced; undefined when there is no file. */
function stampOf(file: string): string | undefined {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.ino} ${stats.mtimeNs} ${stats.size}`;
}

/**
 * Prepares the file for a service: checks it, and removes the temporary files of killed processes.
 *
 * @throws {CosiftError} `damaged`
 */
export async function prepareKeys(file: string): Promise<void> {
  await withLock(file, async () => {
    await removeTemporaries(file);
    readKeys(file);
  });
}

/** Returns a stored key as it is; throws when it is not valid. */
export function checkStored(value: unknown): StoredKey {
  const { sha256, ancestors, ...description } = value as StoredKey;
  checkSchema('KeyDescription', { ...description, issued_by: ADMIN.keyId });
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw new Error('a hash has the wrong form');
  if (!Array.isArray(ancestors) || !ancestors.every((id) => /^[0-9a-z]{12}$/.test(id))) {
    throw new Error('"ancestors" is not a list of key ids');
  }
  for (const time of [description.created_at, description.expires_at]) {
    // NaN would compare as neither before nor after any time.
    if (time !== undefined && new Date(time).toISOString() !== time) throw new Error(`${time} is not a time`);
  }
  return value as StoredKey;
}

/** Runs `work` while no other process changes the file. `work` calls `assertHeld` right before it writes the file. */
async function withLock(file: string, work: (assertHeld: () => void) => Promise<void>): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 }).catch((error) => {
    throw writeFailure(file, error);
  });
  let lost: Error | undefined;
  const unlock = await lock(file, (error) => {
    lost = error;
  });
  try {
    await work(() => {
      if (lost !== undefined) throw busy(file, lost);
    });
  } finally {
    if (lost === undefined) await unlock();
  }
}

async function lock(file: string, onCompromised: (error: Error) => void): Promise<() => Promise<void>> {
  const lockfilePath = `${file}.locked`;
  const options = { lockfilePath, realpath: false, stale: STALE_MS, update: 1_000, onCompromised };
  const deadline = performance.now() + MAX_WAIT_MS;
  for (;;) {
    try {
      return await lockfile.lock(file, options);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ELOCKED') throw writeFailure(file, error);
      if (performance.now() > deadline) throw busy(file, error);
    }
    // After the clock was set back, an abandoned lock seems to be renewed in the future.
    const renewedAt = statSync(lockfilePath, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (renewedAt > Date.now() + STALE_MS) await rm(lockfilePath, { recursive: true, force: true });
    else await pause(RETRY_MS);
  }
}

function busy(file: string, cause: unknown): CosiftError {
  // Callers of a service read this text, and they must not see its directories.
  const name = path.basename(file);
  return new CosiftError('busy', `${name} is being changed by another process; try again`, { cause });
}
