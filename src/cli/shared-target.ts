import type { Databases } from '../api/index.js';
import { CosiftError, isCode } from '../errors.js';
import { readAddress } from '../files/address-file.js';
import type { Target } from '../mcp/index.js';
import type { Action } from '../schema/keys.js';
import { connection, openTarget, type TargetOptions } from './target.js';

/** How long an agent waits for its tools while a server does not say what the key may do. */
const MAX_WAIT_MS = 2_000;

/** What a command works on for a long time. While a server has the directory open, the server answers. */
export class SharedTarget {
  readonly #options: TargetOptions;
  #opening: Promise<Target> | undefined;
  #opened: Databases | undefined;

  constructor(options: TargetOptions) {
    this.#options = options;
  }

  /** Returns the target of one call. Servers start and end between calls, so the next call may have another target. */
  async open(): Promise<Target> {
    if (this.#opened !== undefined) return { databases: this.#opened };
    this.#opening ??= this.#find().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /** Returns what the given key may do; undefined if there is none, or if no server tells: then the calls fail. */
  async actions(): Promise<readonly Action[] | undefined> {
    const { url, key } = this.#options;
    if (url === undefined && key === undefined) return undefined;
    try {
      const { ownKey } = await this.open();
      return (await ownKey?.({ signal: AbortSignal.timeout(MAX_WAIT_MS) }))?.actions;
    } catch {
      return undefined;
    }
  }

  async close(): Promise<void> {
    await this.#opening?.catch(() => undefined);
    await this.#opened?.close();
  }

  async #find(): Promise<Target> {
    const { remoteTarget } = await import('../mcp/index.js');
    const { url, data, store, key } = this.#options;
    if (url !== undefined) return remoteTarget(connection(url, this.#options));
    if (key !== undefined && (store !== undefined || (await readAddress(data)) === undefined)) {
      throw keyWithoutServer();
    }
    try {
      const databases = await openTarget(this.#options);
      if (key === undefined) {
        this.#opened = databases;
        return { databases };
      }
      await databases.close();
    } catch (error) {
      // Whoever takes the lock removes the address, so it is that of the process that has the lock.
      const address = isCode(error, 'data_locked') ? await readAddress(data) : undefined;
      if (address === undefined) throw error;
      return remoteTarget(connection(address, this.#options));
    }
    throw keyWithoutServer();
  }
}

/** The error for a key that nobody would check. */
function keyWithoutServer(): CosiftError {
  return new CosiftError(
    'invalid_request',
    'a key limits an agent only at a running server, and none has the directory open: whoever runs the agent has to start ' +
      '`cosift serve` on it, or to leave out --key and COSIFT_KEY, which gives the agent the whole directory',
  );
}
