// Declares `Symbol.asyncDispose` for programs whose `lib` is older.
/// <reference lib="esnext.disposable" preserve="true" />
import { backupOptions, callOptions, closing } from '../api/call-options.js';
import type { BackupOptions, CallOptions, Databases } from '../api/index.js';
import { itemsOf } from '../api/items-of.js';
import { refuseMore } from '../api/refuse-more.js';
import { embedCall, requestCall, settingsCall } from '../api/requests.js';
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
  static {
    refuseMore(Client);
  }

  readonly #transport: Transport;

  /** @throws {CosiftError} `invalid_request` for an option that is unknown or has a value that is not allowed. */
  constructor(options: ClientOptions) {
    checkOptions('client', options);
    this.#transport = new Transport(options);
  }

  async createDatabase<T extends Columns<T> = Data>(
    id: string,
    settings?: DatabaseSettings<NoInfer<T>>,
    options?: CallOptions,
  ): Promise<RemoteDatabase<T>> {
    const database = this.database<T>(id);
    const path = `/databases/${encodeURIComponent(id)}`;
    await settingsCall(settings, options).run(({ request }, options) =>
      this.#transport.json('PUT', path, SHAPES.database, request, options),
    );
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

  async aliases(options?: CallOptions): Promise<{ name: string; database: string }[]> {
    type List = { aliases: { name: string; database: string }[] };
    return (await this.#transport.json<List>('GET', '/aliases', SHAPES.aliases, undefined, options)).aliases;
  }

  async setAlias(name: string, database: string, options?: CallOptions): Promise<void> {
    checkOptions('alias', { name, database });
    await this.#transport.json('PUT', `/aliases/${name}`, SHAPES.alias, { database }, options);
  }

  async deleteAlias(name: string, options?: CallOptions): Promise<void> {
    checkOptions('aliasName', { name });
    await this.#transport.delete(`/aliases/${name}`, options);
  }

  async embed(
    texts: readonly string[],
    options?: Parameters<Databases['embed']>[1],
  ): Promise<Float32Array[]> {
    type List = { data: { embedding: string }[] };
    const { data } = await embedCall(texts, options).run(({ request }, options) =>
      this.#transport.json<List>('POST', '/embeddings', SHAPES.embeddings, request, options),
    );
    return data.map(({ embedding }) => floatsOf(embedding));
  }

  doctor(options?: CallOptions): AsyncGenerator<DoctorCheck, void, undefined> {
    return itemsOf(() => this.#doctor(callOptions(options)));
  }

  async *#doctor(options: CallOptions): AsyncGenerator<DoctorCheck, void, undefined> {
    const chunks = this.#transport.bytes('POST', '/doctor', options);
    for await (const line of linesOf(chunks, MAX_LINE_BYTES)) yield parseCheck(line);
  }

  /** Issues a key. `key` of the result is shown only here. */
  async issueKey(request: KeyRequest, options?: CallOptions): Promise<IssuedKey> {
    return requestCall(request, 'the request', options).run(({ request }, options) =>
      this.#transport.json('POST', '/keys', SHAPES.key, request, options),
    );
  }

  /** Returns the keys that the key of this client may see, without their secrets. */
  async keys(options?: CallOptions): Promise<KeyDescription[]> {
    type List = { keys: KeyDescription[] };
    return (await this.#transport.json<List>('GET', '/keys', SHAPES.keys, undefined, options)).keys;
  }

  /** Revokes the key with an id. With `descendants`, also the keys that it issued, directly or through others. */
  async revokeKey(
    keyId: string,
    options?: CallOptions & { descendants?: boolean | undefined },
  ): Promise<void> {
    checkOptions('named', { id: keyId });
    const given = options === undefined ? {} : options;
    checkOptions('revocation', given);
    const { descendants = false, signal } = given;
    const query = descendants ? '?descendants=true' : '';
    await this.#transport.delete(`/keys/${encodeURIComponent(keyId)}${query}`, { signal });
  }

  backup(options?: BackupOptions): AsyncGenerator<Uint8Array, void, undefined> {
    return itemsOf(() => {
      const { database, signal, onProgress } = backupOptions(options);
      const path = `/backup${database === undefined ? '' : `?database=${database}`}`;
      return this.#transport.bytes('GET', path, { signal }, onProgress);
    });
  }

  /**
   * Refuses further calls, which fail with `not_ready`, and resolves once those in progress have ended. Calls that wait
   * for changes return at once, and a failed request is not repeated. Closing again returns the same promise.
   */
  close(options?: CallOptions): Promise<void> {
    return closing(options, () => this.#transport.close());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** The values of a vector in base64, the lowest byte first. */
function floatsOf(base64: string): Float32Array {
  const { buffer } = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const bytes = new DataView(buffer);
  return Float32Array.from({ length: buffer.byteLength / 4 }, (_, at) => bytes.getFloat32(4 * at, true));
}
