import type { Config } from '../config/index.js';
import { adminKey } from './keys/admin-key.js';
import { openFileKeys } from './keys/key-file.js';
import type { ServiceState } from './shared-state.js';
import { FileWebhookStore } from './webhooks/file-webhook-store.js';

type StateOptions = Pick<Config, 'data' | 'store' | 'adminKey' | 'storeStatementTimeoutSeconds'>;

/** Opens the state in the data directory, or in the store. This module alone chooses between them. */
export async function openServiceState(config: StateOptions): Promise<ServiceState> {
  const { data, store, adminKey: given } = config;
  const admin = await adminKey(data, given);
  if (store !== undefined) {
    const options = { url: store, statementTimeoutMs: statementTimeoutMs(config) };
    // Loaded only where it is used.
    const { openSharedState } = await import('./shared-state.js');
    return openSharedState(options, admin, given !== undefined);
  }
  const [keys, webhooks] = [await openFileKeys(data, admin.key), await FileWebhookStore.open(data)];
  return { admin, keys, webhooks, close: async () => undefined };
}

/** The milliseconds after which a store cancels a statement. */
export function statementTimeoutMs({ storeStatementTimeoutSeconds }: StateOptions): number | undefined {
  return storeStatementTimeoutSeconds === undefined ? undefined : storeStatementTimeoutSeconds * 1000;
}
