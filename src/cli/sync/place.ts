import type { SyncTarget } from '../../databases/index.js';
import { CosiftError, isCode } from '../../errors.js';
import type { CreatableDatabases } from '../../sync/ensure-database.js';
import { openDirectory } from '../target.js';
import type { SyncOptions } from './definition.js';
import { serverConnection, transportTo } from './server.js';

/** Where the records of a source are: a data directory, a PostgreSQL database, or a running server. */
export interface Place {
  readonly databases: CreatableDatabases;
  /** What is stored of a failure of a source, in place of its reason, where that would leave this machine. */
  readonly sourceFailure: string | undefined;
  /**
   * Opens the target of a sync, which the caller releases. `signal` asks to begin at once.
   *
   * @throws {CosiftError} `busy`, with `signal`, while another process runs the sync of a server.
   */
  open(database: string, name: string, signal?: AbortSignal): Promise<SyncTarget>;
  close(): Promise<void>;
}

/** Opens a place. `advice` says what to do while another process has the directory open. */
export async function openPlace(
  options: SyncOptions,
  advice = 'a server or `cosift sync run`; give --url for a server that does not follow the source itself, or stop it for this command, and start it again afterwards',
): Promise<Place> {
  return options.url === undefined
    ? await localPlace(options, advice)
    : await remotePlace(options.url, options);
}

async function localPlace(options: SyncOptions, advice: string): Promise<Place> {
  const { creatableOf } = await import('../../sync/ensure-database.js');
  const { openTarget } = await import('../../sync/open-sync.js');
  try {
    const service = await openDirectory(options);
    return {
      databases: creatableOf(service),
      sourceFailure: undefined,
      open: (database, name) => openTarget(service, database, name),
      close: () => service.close(),
    };
  } catch (error) {
    if (!isCode(error, 'data_locked')) throw error;
    throw new CosiftError('data_locked', `another process has ${options.data} open: ${advice}`, {
      cause: error,
    });
  }
}

async function remotePlace(url: string, options: SyncOptions): Promise<Place> {
  const { Client } = await import('../../client/client.js');
  const { RemoteTarget } = await import('./remote-target.js');
  const client = new Client(serverConnection(url, options));
  return {
    databases: {
      describe: (name) => client.database(name).describe(),
      create: (id, settings) => client.createDatabase(id, settings),
    },
    sourceFailure: "the source cannot be read; the runner's output says why",
    open: async (database, name, signal) => {
      const target = new RemoteTarget(await transportTo(url, options), database, name);
      if (signal !== undefined) await beginAtOnce(target, name, signal);
      return target;
    },
    close: () => client.close(),
  };
}

/** Takes the hold of a sync, which its runner keeps between its passes. */
async function beginAtOnce(target: SyncTarget, name: string, signal: AbortSignal): Promise<void> {
  try {
    await target.hold(signal);
  } catch (error) {
    await target.release();
    if (!isCode(error, 'busy')) throw error;
    throw new CosiftError(
      'busy',
      `another process runs the sync "${name}": stop \`cosift sync run\` for this command, or wait until it ends`,
      { cause: error },
    );
  }
}
