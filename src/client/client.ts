import type {
  DatabaseDescription,
  DatabaseSettings,
  IssuedKey,
  KeyDescription,
  KeyRequest,
  Variant,
} from '../schema/index.js';
import { checkOptions } from '../schema/options.js';
import { Database } from './database.js';
import { type CallOptions, type ClientOptions, Transport } from './transport.js';

/** A service over HTTP. */
export class Client {
  readonly #transport: Transport;

  /** @throws {CosiftError} `invalid_request` for an option that is unknown or has a value that is not allowed. */
  constructor(options: ClientOptions) {
    checkOptions('client', options);
    this.#transport = new Transport(options);
  }

  /** A database, which is not asked for until it is used. */
  database<V extends Variant = 'b'>(id: string, variant: V = 'b' as V): Database<V> {
    checkOptions('database', { id, variant });
    return new Database(this.#transport, id, variant);
  }

  /** Creates a database or finds it with these settings. */
  async createDatabase<V extends Variant = 'b'>(
    id: string,
    settings: DatabaseSettings = {},
    options: CallOptions & { variant?: V } = {},
  ): Promise<Database<V>> {
    checkOptions('clientDatabase', options);
    const { variant, ...call } = options;
    const database = this.database(id, variant);
    await this.#transport.call('PUT', `/databases/${encodeURIComponent(id)}`, settings, call);
    return database;
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

  /** Revokes a key; with `descendants` also those that it issued, directly or through others. */
  async revokeKey(keyId: string, options: CallOptions & { descendants?: boolean } = {}): Promise<void> {
    checkOptions('clientRevocation', options);
    const { descendants = false, ...call } = options;
    const query = descendants ? '?descendants=true' : '';
    return this.#transport.call('DELETE', `/keys/${encodeURIComponent(keyId)}${query}`, undefined, call);
  }
}
