import { once } from 'node:events';
import type { Socket } from 'node:net';
import pg from 'pg';

const CONNECT_MS = 10_000;
const CLOSE_MS = 5_000;
/** Milliseconds without messages after which the connection is probed. */
const KEEP_ALIVE_MS = 10_000;
/** Milliseconds between two attempts to connect, and between two polls meanwhile. */
const POLL_MS = 1_000;

/** A connection that receives the messages of one channel. It is made again whenever it is lost. */
export class Listener {
  readonly #settings: pg.ClientConfig;
  readonly #channel: string;
  readonly #onMessage: (message: string | undefined) => void;
  /** Also while it is being connected. */
  #client: pg.Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #connecting: Promise<void>;

  constructor(settings: pg.ClientConfig, channel: string, onMessage: (message: string | undefined) => void) {
    this.#settings = settings;
    this.#channel = channel;
    this.#onMessage = onMessage;
    this.#connecting = this.#connect();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const { connection } = (this.#client ?? {}) as { connection?: { stream: Socket } };
    // A server that does not answer would keep the connection open.
    const late = setTimeout(() => connection?.stream.destroy(), CLOSE_MS);
    await this.#client?.end().catch(() => undefined);
    await this.#connecting;
    clearTimeout(late);
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({
      ...this.#settings,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      connectionTimeoutMillis: CONNECT_MS,
    });
    this.#client = client;
    let isLost = false;
    const lost = () => {
      if (isLost || this.#isClosed) return;
      isLost = true;
      this.#client = undefined;
      client.end().catch(() => undefined);
      this.#timer = setTimeout(() => {
        // The reader of a feed asks the database, whether there is a connection or not.
        this.#onMessage(undefined);
        this.#connecting = this.#connect();
      }, POLL_MS);
    };
    client.on('error', lost);
    client.on('end', lost);
    client.on('notification', ({ payload }) => this.#onMessage(payload));
    try {
      // A call of `end` meanwhile leaves the promise of `connect` pending.
      await Promise.race([client.connect(), once(client, 'end')]);
      await client.query(`LISTEN ${client.escapeIdentifier(this.#channel)}`);
      // What was written before the connection was there.
      this.#onMessage(undefined);
    } catch {
      lost();
    }
  }
}
