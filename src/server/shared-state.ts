import { NodePostgres, type PostgresOptions, ServiceTables } from '../store/postgres/index.js';
import { type AdminKey, storeAdminKey } from './keys/admin-key.js';
import { hashKey, sameHash } from './keys/key-format.js';
import { KeyStore } from './keys/key-store.js';
import { PostgresKeyStorage } from './keys/postgres-key-storage.js';
import { PostgresWebhookStore } from './webhooks/postgres-webhook-store.js';
import type { WebhookStore } from './webhooks/webhook-store.js';

/** Connections for keys and webhooks. They are apart from those of the records, so that no search keeps a key waiting. */
const MAX_CONNECTIONS = 4;

/** The admin key; undefined where another service of the store made it, so that only its hash is known. */
export type ServiceAdmin = Omit<AdminKey, 'key'> & { key: string | undefined };

/** What a service keeps besides records. */
export interface ServiceState {
  admin: ServiceAdmin;
  keys: KeyStore;
  webhooks: WebhookStore;
  /** To be called after the last use of keys and webhooks. */
  close(): Promise<void>;
}

/** Opens the state in the store. `isGiven` says whether the admin key was given. */
export async function openSharedState(
  options: PostgresOptions,
  admin: AdminKey,
  isGiven: boolean,
): Promise<ServiceState> {
  const database = new NodePostgres({ ...options, maxConnections: MAX_CONNECTIONS });
  try {
    const tables = await ServiceTables.open(database);
    const storage = new PostgresKeyStorage(tables);
    const own = hashKey(admin.key);
    const hash = isGiven ? own : await storage.adminHash(own);
    const isOwn = sameHash(own, hash);
    // From now on the hash is that of all services, so the key must not be lost, even when this start fails.
    if (isOwn && admin.made) await storeAdminKey(admin);
    const keys = new KeyStore(storage, hash);
    // A start reports keys that cannot be read.
    const failure = await keys.failure();
    if (failure !== undefined) throw failure;
    return {
      admin: isOwn ? admin : { key: undefined, made: false, file: admin.file },
      keys,
      webhooks: new PostgresWebhookStore(tables),
      close: () => tables.close(),
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}
