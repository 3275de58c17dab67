import { ACTIONS, type IssuedKey, type KeyDescription, type KeyRequest } from '../schema/index.js';
import { type Caller, KeyStore } from '../server/keys/key-store.js';
import { HttpTarget } from './http-target.js';
import { apiKey, type TargetOptions } from './target.js';

/** The keys of a data directory or of a running server. */
export interface Keys {
  issue(request: KeyRequest): Promise<IssuedKey>;
  list(): Promise<KeyDescription[]>;
  revoke(keyId: string): Promise<void>;
  close(): Promise<void>;
}

/** Who may read the directory may issue any key. */
const OWNER: Caller = { keyId: 'admin', actions: new Set(ACTIONS), databases: undefined, filter: undefined };

export async function openKeys(options: TargetOptions): Promise<Keys> {
  if (options.url !== undefined) return serverKeys(new HttpTarget(options.url, apiKey(options)));
  // A server that runs on the directory reads its keys again when they change.
  const store = new KeyStore(options.data, '');
  return {
    issue: (request) => store.issue(request, OWNER),
    list: async () => store.list(OWNER),
    revoke: (keyId) => store.revoke(keyId, OWNER),
    close: async () => undefined,
  };
}

function serverKeys(server: HttpTarget): Keys {
  return {
    issue: async (request) => (await server.json('POST', '/keys', request)) as IssuedKey,
    list: async () => ((await server.json('GET', '/keys')) as { keys: KeyDescription[] }).keys,
    async revoke(keyId) {
      await server.json('DELETE', `/keys/${encodeURIComponent(keyId)}`);
    },
    close: () => server.close(),
  };
}
