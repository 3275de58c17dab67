import { rm } from 'node:fs/promises';
import path from 'node:path';
import { LocalStore } from '../../databases/index.js';
import { readIfExists, writeSecret } from '../../files/secret-file.js';
import { KeyFile } from '../../server/keys/key-file.js';
import { hashKey } from '../../server/keys/key-format.js';
import { readWebhooks, writeWebhooks } from '../../server/webhooks/webhook-file.js';
import { type Endpoint, LIMITS_OF_MIGRATION } from './endpoint.js';

/** Opens a data directory, and takes its lock: no service runs on it meanwhile. */
export async function openDirectoryEndpoint(directory: string): Promise<Endpoint> {
  const root = path.resolve(directory);
  const file = (name: string) => path.join(root, name);
  const store = LocalStore.open(root, LIMITS_OF_MIGRATION);
  return {
    name: directory,
    store,
    support: undefined,
    keys: new KeyFile(file('keys.json')),
    webhooks: () => readWebhooks(file('webhooks.json')),
    addWebhooks: async (added) => {
      const stored = await readWebhooks(file('webhooks.json'));
      const known = new Set(stored.map(({ webhook_id }) => webhook_id));
      const missing = added.filter(({ webhook_id }) => !known.has(webhook_id));
      if (missing.length > 0) await writeWebhooks(file('webhooks.json'), [...stored, ...missing]);
    },
    adminHash: async () => {
      const key = (await readIfExists(file('admin.key')))?.trim();
      return key ? hashKey(key) : undefined;
    },
    // A hash is not enough for the file, which has the key itself.
    setAdminHash: async () => false,
    unfinished: async () => JSON.parse((await readIfExists(file(UNFINISHED))) ?? '[]') as string[],
    setUnfinished: async (databases) => {
      if (databases.length === 0) await rm(file(UNFINISHED), { force: true });
      else await writeSecret(file(UNFINISHED), JSON.stringify(databases));
    },
    close: () => store.close(),
  };
}

/** Names the databases that a migration into the directory is filling. */
const UNFINISHED = 'migration.json';
