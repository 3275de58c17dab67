import { FileKeyStore } from './file-key-store.js';
import type { KeyStore } from './key-store.js';

/**
 * Opens the keys of a service on a data directory.
 *
 * @throws {CosiftError} `damaged` when the stored keys were changed by another program.
 */
export function openKeyStore(dataDirectory: string, adminKey: string): Promise<KeyStore> {
  return FileKeyStore.open(dataDirectory, adminKey);
}

/**
 * Opens the keys of a data directory for a command that may run at the same time as a service. The service reads the keys
 * again when they change.
 */
export function openKeyStoreOffline(dataDirectory: string): KeyStore {
  // Nobody authenticates here, so the admin key is not needed.
  return new FileKeyStore(dataDirectory, '');
}
