import type { CallOptions, Databases } from '../api/index.js';
import { Client } from '../client/client.js';
import { SHAPES } from '../client/response-shapes.js';
import { type ClientOptions, Transport } from '../client/transport.js';
import type { Action } from '../schema/keys.js';

/** What the key of the calls may do. */
interface OwnKey {
  actions: Action[];
  databases: '*' | string[];
}

/** The databases that the tools work on. */
export interface Target {
  databases: Databases;
  /** What the key may do; absent where everything is allowed. */
  ownKey?(options: CallOptions): Promise<OwnKey>;
}

/** The databases of a service, as far as the key reaches. */
export function remoteTarget(options: ClientOptions): Target {
  const transport = new Transport(options);
  return {
    databases: new Client(options),
    ownKey: (call) => transport.json('GET', '/keys/self', SHAPES.ownKey, undefined, call),
  };
}
