import path from 'node:path';
import { CosiftError } from '../../errors.js';
import { readIfExists, removeTemporaries, writeSecret } from '../../files/secret-file.js';
import { generateKey, keyIdOf } from './key-format.js';

export interface AdminKey {
  key: string;
  /** Whether this start made the key, so that the key must be stored and shown. */
  made: boolean;
  file: string;
}

/**
 * Returns the admin key: `given`, or the key in `admin.key` of the data directory, or a new key.
 *
 * @throws {CosiftError} `damaged` when the stored key was changed.
 */
export async function adminKey(dataDirectory: string, given: string | undefined): Promise<AdminKey> {
  const file = path.join(dataDirectory, 'admin.key');
  await removeTemporaries(file);
  if (given !== undefined) return { key: given, made: false, file };
  const stored = (await readIfExists(file))?.trim();
  if (stored) {
    // A key that the service made has a checksum of its own.
    if (stored.startsWith('cosift_') && keyIdOf(stored) === undefined) {
      throw new CosiftError(
        'damaged',
        `${file} is damaged: remove it, and the next start makes a new admin key`,
      );
    }
    return { key: stored, made: false, file };
  }
  return { key: generateKey().key, made: true, file };
}

/** Stores a key that {@link adminKey} made. */
export async function storeAdminKey({ key, file }: AdminKey): Promise<void> {
  await writeSecret(file, `${key}\n`);
}
