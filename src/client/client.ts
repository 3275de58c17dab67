// Declares `Symbol.asyncDispose` for programs whose `lib` is older.
/// <reference lib="esnext.disposable" preserve="true" />
import { closing } from '../api/closing.js';
import { copied } from '../api/copied.js';
import type { BackupOptions, CallOptions, Databases } from '../api/index.js';
import { checkedRequest } from '../api/request-values.js';
import { checkOptions } from '../schema/options.js';
import type {
  Columns,
  Data,
  DatabaseDescription,
  DatabaseSettings,
  DoctorCheck,
  IssuedKey,
  KeyDescription,
  KeyRequest,
} from '../schema/public-types.js';
import { linesOf, MAX_LINE_BYTES } from './line-stream.js';
import { parseCheck } from './read-response.js';
import { RemoteDatabase } from './remote-database.js';
import { SHAPES } from './response-shapes.js';
import { type ClientOptions, Transport } from './transport.js';

/**
 * A service over HTTP. A request is repeated after 429, 503 and a lost connection. Methods without a comment do what
 * {@link Databases} says.
 *
 * @example
 * ```ts
 * const client = new Client({ url: 'http://127.0.0.1:8080', key: process.env.COSIFT_KEY ?? '' });
 * const facts = client.database('facts');
 * for await (const { id, relevance_score } of facts.searchAll('deep water')) {
 *   console.log(id, relevance_score);
 * }
 * ```
 */
export class Client implements Databases {
  readonly #transport: Transport;

  /** @throws {CosiftError} `invalid_request` for an option that is unknown or has a value that is not allowed. */
  constructor(options: ClientOptions) {
    checkOptions('client', options);
    this.#transport = new Transport(options);
  }

  async createDatabase<T extends Columns<T> = Data>(
    id: string,
    settings: DatabaseSettings<NoInfer<T>> = {},
    options?: CallOptions,
  ): Promise<RemoteDatabase<T>> {
    const database = this.database<T>(id);
    const path = `/databases/${encodeURIComponent(id)}`;
    const { request: body } = checkedRequest(settings);
    await this.#transport.json('PUT', path, SHAPES.database, body, options);
    return database;
  }

  database<T extends Columns<T> = Data>(id: string): RemoteDatabase<T> {
    checkOptions('database', { id });
    return new RemoteDatabase<T>(this.#transport, id);
  }

  async databases(options?: CallOptions): Promise<DatabaseDescription[]> {
    type List = { databases: DatabaseDescription[] };
    return (await this.#transport.json<List>('GET', '/databases', SHAPES.databases, undefined, options))
      .databases;
  }

  doctor(options: CallOptions = {}): AsyncGenerator<DoctorCheck, void, undefined> {
    return this.#doctor(copied(options));
  }

  async *#doctor(options: CallOptions): AsyncGenerator<DoctorCheck, void, undefined> {
    checkOptions('call', options);
    const chunks = this.#transport.bytes('POST', '/doctor', options);
    for await (const line of linesOf(chunks, MAX_LINE_BYTES)) yield parseCheck(line);
  }

  /** Issues a key. `key` of the result is shown only here. */
  async issueKey(request: KeyRequest, options?: CallOptions): Promise<IssuedKey> {
    const { request: body } = checkedRequest(request);
    return this.#transport.json('POST', '/keys', SHAPES.key, body, options);
  }

  /** Returns the keys that the key of this client may see, without their secrets. */
  async keys(options?: CallOptions): Promise<KeyDescription[]> {
    type List = { keys: KeyDescription[] };
    return (await this.#transport.json<List>('GET', '/keys', SHAPES.keys, undefined, options)).keys;
  }

  /** Revokes the key with an id. With `descendants`, also the keys that it issued, directly or through others. */
  async revokeKey(
    keyId: string,
    options: CallOptions & { descendants?: boolean | undefined } = {},
  ): Promise<void> {
    checkOptions('named', { id: keyId });
    checkOptions('revocation', options);
    const { descendants = false, signal } = options;
    const query = descendants ? '?descendants=true' : '';
    await this.#transport.delete(`/keys/${encodeURIComponent(keyId)}${query}`, { signal });
  }

  backup(options: BackupOptions = {}): AsyncGenerator<Uint8Array, void, undefined> {
    return this.#backup(copied(options));
  }

  async *#backup(options: BackupOptions): AsyncGenerator<Uint8Array, void, undefined> {
    checkOptions('backup', options);
    const { database, signal, onProgress } = options;
    const path = `/backup${database === undefined ? '' : `?database=${database}`}`;
    yield* this.#transport.bytes('GET', path, { signal }, onProgress);
  }

  /**
   * Refuses further calls, which fail with `not_ready`, and resolves once those in progress have ended. Calls that wait
   * for changes return at once, and a failed request is not repeated. Closing again returns the same promise.
   */
  close(options: CallOptions = {}): Promise<void> {
    return closing(options, () => this.#transport.close());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
