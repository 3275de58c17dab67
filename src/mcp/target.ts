import type { CallOptions, Databases } from '../api/index.js';
import { Client } from '../client/client.js';
import { SHAPES } from '../client/response-shapes.js';
import { type ClientOptions, Transport } from '../client/transport.js';

/** The databases that the tools work on. */
export interface Target {
  databases: Databases;
  /** The databases that the key may use; absent where everything is allowed. */
  visibleDatabases?(options: CallOptions): Promise<'*' | string[]>;
}

/** The databases of a service, as far as the key reaches. */
export function remoteTarget(options: ClientOptions): Target {
  const transport = new Transport(options);
  return {
    databases: new Client(options),
    visibleDatabases: async (call) => {
      type OwnKey = { databases: '*' | string[] };
      const key = await transport.json<OwnKey>('GET', '/keys/self', SHAPES.ownKey, undefined, call);
      return key.databases;
    },
  };
}
