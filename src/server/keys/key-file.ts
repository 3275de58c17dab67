import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CosiftError, isCode } from '../../errors.js';
import { type FileKind, parseChecked, writeChecked } from '../../files/checked-file.js';
import { removeTemporaries } from '../../files/secret-file.js';
import { checkSchema } from '../../schema/index.js';
import { DataLock } from '../../store/local/data-lock.js';
import { ADMIN } from './caller.js';
import type { StoredKey } from './key-entry.js';
import { hashKey } from './key-format.js';
import { type KeyStorage, KeyStore } from './key-store.js';

/** The content of `keys.json`. */
export const KEYS_FILE: FileKind<StoredKey> = {
  member: 'keys',
  check: checkStored,
  repair:
    'put a sound copy in its place, or remove it and issue the keys again; until then no issued key is valid',
};

const MAX_WAIT_MS = 15_000;
const RETRY_MS = 10;

/** What the file held when it had `stamp`. */
type Reading = { stamp: string | undefined } & ({ keys: readonly StoredKey[] } | { error: unknown });

/** The keys in `keys.json` of a data directory. */
export function fileKeys(dataDirectory: string, adminKey: string): KeyStore {
  return new KeyStore(new KeyFile(keysFile(dataDirectory)), hashKey(adminKey));
}

/**
 * Returns the keys of a service. No other service may run on the directory.
 *
 * @throws {CosiftError} `damaged` when the file was changed by another program.
 */
export async function openFileKeys(dataDirectory: string, adminKey: string): Promise<KeyStore> {
  await prepareKeys(keysFile(dataDirectory));
  return fileKeys(dataDirectory, adminKey);
}

function keysFile(dataDirectory: string): string {
  return path.join(dataDirectory, 'keys.json');
}

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
    await withLock(this.#file, () => writeChecked(this.#file, change(readKeys(this.#file)), KEYS_FILE));
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

/** Runs `work` while nobody else changes the file: no other process, and no other call of this one. */
async function withLock(file: string, work: () => Promise<void>): Promise<void> {
  const lock = await takeLock(file);
  try {
    await work();
  } finally {
    lock.release();
  }
}

/** Takes a lock of the system, which ends with its process. It is not on the file itself, because that is replaced. */
async function takeLock(file: string): Promise<DataLock> {
  const deadline = performance.now() + MAX_WAIT_MS;
  for (;;) {
    try {
      return DataLock.take(`${file}.locked`);
    } catch (error) {
      if (!isCode(error, 'data_locked')) throw error;
      if (performance.now() > deadline) throw busy(file, error);
    }
    await pause(RETRY_MS);
  }
}

function busy(file: string, cause: unknown): CosiftError {
  // Callers of a service read this text, and they must not see its directories.
  const name = path.basename(file);
  return new CosiftError('busy', `${name} is being changed by another process; try again`, { cause });
}
