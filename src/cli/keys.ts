import type { IssuedKey, KeyDescription, KeyRequest } from '../schema/index.js';
import { ADMIN, KeyStore } from '../server/keys/key-store.js';
import { HttpTarget } from './http-target.js';
import { SHAPES } from './response.js';
import { apiKey, type TargetOptions } from './target.js';

/** The keys of a data directory or of a running server. */
export interface Keys {
  issue(request: KeyRequest): Promise<IssuedKey>;
  list(): Promise<KeyDescription[]>;
  /** `descendants`: also the keys that it issued, directly or through others. */
  revoke(keyId: string, options: { descendants: boolean }): Promise<void>;
  close(): Promise<void>;
}

export async function openKeys(options: TargetOptions): Promise<Keys> {
  if (options.url !== undefined) return serverKeys(new HttpTarget(options.url, apiKey(options)));
  // Whoever can read the directory may issue any key. A server that runs on it reads the keys again when they change.
  const store = new KeyStore(options.data, '');
  return {
    issue: (request) => store.issue(request, ADMIN),
    list: async () => store.list(ADMIN),
    revoke: (keyId, options) => store.revoke(keyId, ADMIN, options),
    close: async () => undefined,
  };
}

function serverKeys(server: HttpTarget): Keys {
  return {
    issue: async (request) => (await server.json('POST', '/keys', SHAPES.issuedKey, request)) as IssuedKey,
    list: async () => ((await server.json('GET', '/keys', SHAPES.keys)) as { keys: KeyDescription[] }).keys,
    async revoke(keyId, { descendants }) {
      await server.delete(`/keys/${encodeURIComponent(keyId)}${descendants ? '?descendants=true' : ''}`);
    },
    close: () => server.close(),
  };
}
