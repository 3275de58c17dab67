import { ServiceTables } from '../../store/postgres/index.js';
import { FileKeyStore } from './file-key-store.js';
import { IssuedKeys } from './issued-keys.js';
import type { KeyStore } from './key-store.js';
import { PostgresKeyStorage } from './postgres-key-storage.js';

/**
 * Opens the keys of a service on a data directory.
 *
 * @throws {CosiftError} `damaged` when the stored keys were changed by another program.
 */
export function openKeyStore(dataDirectory: string, adminKey: string): Promise<KeyStore> {
  return FileKeyStore.open(dataDirectory, adminKey);
}

/**
 * Opens the keys of a data directory or of a PostgreSQL database for a command that may run at the same time as a
 * service. The service reads the keys again when they change.
 */
export function openKeyStoreOffline(place: string | ServiceTables): KeyStore {
  // Nobody authenticates here, so the admin key is not needed.
  if (!(place instanceof ServiceTables)) return new FileKeyStore(place, '');
  return new IssuedKeys(new PostgresKeyStorage(place), Buffer.alloc(0));
}
