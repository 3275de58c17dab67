import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Client } from '../client/index.js';
import type { IssuedKey, KeyDescription, KeyRequest } from '../schema/index.js';
import type { KeyStore } from '../server/keys/key-store.js';
import { checkDataDirectory, openServer, type TargetOptions } from './target.js';

/** The keys of a data directory or of a running server. */
export interface Keys extends AsyncDisposable {
  issue(request: KeyRequest): Promise<IssuedKey>;
  list(): Promise<KeyDescription[]>;
  /** The ids of all databases; undefined when the caller may not list them. */
  databases(): Promise<string[] | undefined>;
  /** Revokes a key; with `descendants`, also the keys that it issued, directly or through others. */
  revoke(keyId: string, options: { descendants: boolean }): Promise<void>;
}

export async function openKeys(options: TargetOptions): Promise<Keys> {
  if (options.url !== undefined) return keysOfServer(await openServer(options.url, options));
  await checkDataDirectory(options);
  if (options.store !== undefined) return keysOfStore(options.store);
  const { fileKeys } = await import('../server/keys/key-file.js');
  // A service may run on the directory: it reads the keys again when they change.
  const databases = () => readdir(path.join(options.data, 'databases'));
  return keysOf(fileKeys(options.data, ''), databases, async () => undefined);
}

async function keysOfStore(url: string): Promise<Keys> {
  const { NodePostgres, PostgresStore, ServiceTables } = await import('../store/postgres/index.js');
  const { LIMITS } = await import('../schema/limits.js');
  const { KeyStore } = await import('../server/keys/key-store.js');
  const { PostgresKeyStorage } = await import('../server/keys/postgres-key-storage.js');
  const database = new NodePostgres({ url, maxConnections: 1 });
  const tables = await ServiceTables.open(database);
  const names = async () => (await new PostgresStore(database, LIMITS).progress()).map(({ id }) => id);
  return keysOf(new KeyStore(new PostgresKeyStorage(tables), Buffer.alloc(0)), names, () => tables.close());
}

/** Nobody authenticates at `store`, so it needs no admin key. A person who can read the keys may issue any key. */
async function keysOf(
  store: KeyStore,
  databases: () => Promise<string[]>,
  close: () => Promise<void>,
): Promise<Keys> {
  const { ADMIN } = await import('../server/keys/caller.js');
  return {
    issue: (request) => store.issue(request, ADMIN),
    list: () => store.list(ADMIN),
    databases,
    revoke: (keyId, options) => store.revoke(keyId, ADMIN, options),
    [Symbol.asyncDispose]: close,
  };
}

function keysOfServer(client: Client): Keys {
  return {
    issue: (request) => client.issueKey(request),
    list: () => client.keys(),
    databases: () =>
      client.databases().then(
        (databases) => databases.map(({ id }) => id),
        () => undefined,
      ),
    revoke: (keyId, options) => client.revokeKey(keyId, options),
    [Symbol.asyncDispose]: () => client.close(),
  };
}
