import type { MigrationTarget } from '../../databases/index.js';
import { LIMITS, type Limits, maxOf } from '../../schema/limits.js';
import type { KeyStorage } from '../../server/keys/key-store.js';
import type { StoredWebhook } from '../../server/webhooks/stored-webhook.js';

/** A data directory or a PostgreSQL database, with all that a service keeps in it. */
export interface Endpoint extends MigrationTarget {
  /** How messages call it. */
  readonly name: string;
  readonly keys: KeyStorage;
  webhooks(): Promise<StoredWebhook[]>;
  /** Adds webhooks. Those that are there already stay as they are. */
  addWebhooks(webhooks: readonly StoredWebhook[]): Promise<void>;
  /** The hash of the admin key; undefined where none was made. */
  adminHash(): Promise<Buffer | undefined>;
  /** Makes a key valid as the admin key. Returns false where only its hash would have to be kept, or there is another. */
  setAdminHash(hash: Buffer): Promise<boolean>;
  /** The databases that an unfinished migration is filling. */
  unfinished(): Promise<string[]>;
  setUnfinished(databases: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** Limits under which a migration takes all that a service with other limits stored, and removes no change. */
export const LIMITS_OF_MIGRATION: Limits = {
  ...LIMITS,
  batch_records: maxOf('batch_records'),
  batch_bytes: maxOf('batch_bytes'),
  record_bytes: maxOf('record_bytes'),
  database_columns: maxOf('database_columns'),
  change_retention_days: 36_500,
};
