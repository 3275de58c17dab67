import type {
  DatabaseDescription,
  DatabaseSettings,
  IssuedKey,
  KeyDescription,
  KeyRequest,
  Variant,
} from '../schema/index.js';
import { Database } from './database.js';
import { type CallOptions, type ClientOptions, Transport } from './transport.js';

/** A service over HTTP. */
export class Client {
  readonly #transport: Transport;

  constructor(options: ClientOptions) {
    this.#transport = new Transport(options);
  }

  /** A database, which is not asked for until it is used. */
  database<V extends Variant = 'b'>(id: string, variant: V = 'b' as V): Database<V> {
    return new Database(this.#transport, id, variant);
  }

  /** Creates a database or finds it with these settings. */
  async createDatabase<V extends Variant = 'b'>(
    id: string,
    settings: DatabaseSettings = {},
    options: CallOptions & { variant?: V } = {},
  ): Promise<Database<V>> {
    await this.#transport.call('PUT', `/databases/${encodeURIComponent(id)}`, settings, options);
    return this.database(id, options.variant);
  }

  async databases(options?: CallOptions): Promise<DatabaseDescription[]> {
    type List = { databases: DatabaseDescription[] };
    return (await this.#transport.call<List>('GET', '/databases', undefined, options)).databases;
  }

  /** Issues a key. `key` of the result is shown this once. */
  issueKey(request: KeyRequest, options?: CallOptions): Promise<IssuedKey> {
    return this.#transport.call('POST', '/keys', request, options);
  }

  async keys(options?: CallOptions): Promise<KeyDescription[]> {
    return (await this.#transport.call<{ keys: KeyDescription[] }>('GET', '/keys', undefined, options)).keys;
  }

  revokeKey(keyId: string, options?: CallOptions): Promise<void> {
    return this.#transport.call('DELETE', `/keys/${encodeURIComponent(keyId)}`, undefined, options);
  }
}
