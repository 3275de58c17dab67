import { realpathSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { unlessAborted } from '../async/until-aborted.js';
import {
  beginDatabases,
  type DatabaseService,
  type DatabasesOptions,
  type OpenCall,
  whenLoaded,
} from '../databases/index.js';
import { CosiftError } from '../errors.js';

/** Databases that are open, and how many handles use them. */
interface Opened {
  readonly service: Promise<DatabaseService>;
  readonly options: DatabasesOptions;
  uses: number;
  /** Resolves once the databases are closed; undefined while a handle is open. */
  closed?: Promise<void>;
}

/** The open directories of this process, for writing and for reading. What no handle uses may be collected, and then gives its directory back. */
const DIRECTORIES = new Map<string, WeakRef<Opened>>();

/** One use of open databases. */
export class Handle {
  readonly #opened: Opened;
  readonly #databases: DatabaseService;
  #closed: Promise<void> | undefined;

  private constructor(opened: Opened, databases: DatabaseService) {
    this.#opened = opened;
    this.#databases = databases;
  }

  /** The only handle of databases. */
  static of(databases: DatabaseService): Handle {
    return new Handle({ service: Promise.resolve(databases), options: {}, uses: 1 }, databases);
  }

  /**
   * Opens databases; resolves once all are loaded. A directory that this process has open is shared.
   *
   * @throws {CosiftError} `invalid_request` for an option that differs from that of the open directory; as `beginDatabases`.
   */
  static async open(
    options: DatabasesOptions,
    { warm, ...call }: OpenCall & { warm: boolean },
  ): Promise<Handle> {
    call.signal?.throwIfAborted();
    const opened =
      options.directory === undefined ? begin(options) : await openDirectory(options.directory, options);
    const handle = new Handle(opened, await opened.service);
    try {
      await whenLoaded(handle.databases, call);
      if (warm) await unlessAborted(handle.databases.texts.warm(), call.signal);
    } catch (error) {
      await handle.close();
      throw error;
    }
    return handle;
  }

  /** @throws {CosiftError} `not_ready` once the handle is closed while another one is open. */
  get databases(): DatabaseService {
    if (this.#closed !== undefined && this.#opened.closed === undefined) {
      throw new CosiftError('not_ready', 'the store is closed');
    }
    return this.#databases;
  }

  /**
   * The databases, for a call that writes.
   *
   * @throws {CosiftError} `read_only`; as {@link databases}.
   */
  get writable(): DatabaseService {
    if (this.#opened.options.readOnly) {
      const detail =
        'the directory is open with `readOnly`: write in the process that opens it without, or send the write to its service';
      throw new CosiftError('read_only', detail);
    }
    return this.databases;
  }

  /** Closes the databases if no other handle uses them. Each call returns the same promise. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  #close(): Promise<void> {
    this.#opened.uses -= 1;
    if (this.#opened.uses > 0) return Promise.resolve();
    this.#opened.closed = this.#databases.close();
    return this.#opened.closed;
  }
}

function begin(options: DatabasesOptions): Opened {
  return { service: beginDatabases(options), options, uses: 1 };
}

async function openDirectory(directory: string, options: DatabasesOptions): Promise<Opened> {
  // Those who only read a directory do not share it with those who write it.
  const place = `${options.readOnly === true} ${canonical(path.resolve(directory))}`;
  for (;;) {
    const known = DIRECTORIES.get(place)?.deref();
    if (known === undefined) {
      const opened = begin(options);
      DIRECTORIES.set(place, new WeakRef(opened));
      opened.service.catch(() => DIRECTORIES.delete(place));
      return opened;
    }
    if (known.closed === undefined) {
      refuseOther(known.options, options);
      known.uses += 1;
      return known;
    }
    await known.closed.catch(() => undefined);
    if (DIRECTORIES.get(place)?.deref() === known) DIRECTORIES.delete(place);
  }
}

/** The path without symbolic links, also of what is not there yet. */
function canonical(place: string): string {
  try {
    return realpathSync(place);
  } catch {
    const parent = path.dirname(place);
    return parent === place ? place : path.join(canonical(parent), path.basename(place));
  }
}

function refuseOther(first: DatabasesOptions, options: DatabasesOptions): void {
  for (const name of ['threads', 'vectorMemoryMegabytes', 'embedWorkers', 'models'] as const) {
    const value = options[name];
    if (value === undefined || isDeepStrictEqual(value, first[name])) continue;
    const detail =
      'the directory is open in this process with another value: leave the option out, or give the same value';
    const problems = [{ pointer: `/${name}`, code: 'invalid_value', detail }] as const;
    throw new CosiftError('invalid_request', `/${name}: ${detail}`, { problems });
  }
}
