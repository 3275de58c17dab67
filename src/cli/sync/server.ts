import { sleep } from '../../async/sleep.js';
import type { ClientOptions, Transport } from '../../client/transport.js';
import { CosiftError, isCode } from '../../errors.js';
import type { SyncDescription } from '../../schema/index.js';
import type { SyncRequest } from '../../sync/followed-syncs.js';
import type { SyncCounts } from '../../sync/index.js';
import { note } from '../output.js';
import type { ProgressBar } from '../progress-bar.js';
import { connection } from '../target.js';
import { invalid, type SyncOptions } from './definition.js';

const POLL_MS = 300;

/** The members of responses that the commands rely on. */
const SYNC = {
  name: 'string',
  database: 'string',
  state: 'string',
  records: 'number',
  refused: 'number',
  refused_rows: [{ key: 'string', reason: 'string' }],
  withheld: 'number',
} as const;

/** What a pass did, and how far the source is since. */
export interface MadePass {
  counts: Pick<SyncCounts, 'read' | 'written' | 'unchanged' | 'deleted'>;
  description: SyncDescription;
}

/** How to reach the server of the options. */
export function serverConnection(url: string, { data, apiKey }: SyncOptions): ClientOptions {
  return connection(url, { data, url, ...(apiKey !== undefined && { key: apiKey }) }, '--api-key');
}

/** The connection to the server of the options. */
export async function transportTo(url: string, options: SyncOptions): Promise<Transport> {
  const { Transport } = await import('../../client/transport.js');
  return new Transport(serverConnection(url, options));
}

function unlessForbidden(error: unknown): [] {
  if (isCode(error, 'forbidden')) return [];
  throw error;
}

/** The sources that a server follows. */
export class ServerSyncs {
  readonly #transport: Transport;
  readonly #database: string | undefined;

  private constructor(transport: Transport, database: string | undefined) {
    this.#transport = transport;
    this.#database = database;
  }

  static async open(url: string, options: SyncOptions): Promise<ServerSyncs> {
    return new ServerSyncs(await transportTo(url, options), options.database);
  }

  /** The sources of {@link list}, if there are any. A key that may only run syncs does not see them. */
  async followed(name: string | undefined): Promise<SyncDescription[]> {
    return (await this.#all().catch(unlessForbidden)).filter((sync) => this.#isWanted(sync, name));
  }

  /** Returns the sources of the database that the options name, if they name one; with `name`, only that one. */
  async list(name: string | undefined, signal?: AbortSignal): Promise<SyncDescription[]> {
    const syncs = await this.#all(signal);
    const found = syncs.filter((sync) => this.#isWanted(sync, name));
    if (found.length > 0) return found;
    const names = syncs.map((sync) => sync.name).join(', ');
    throw new CosiftError(
      'sync_not_found',
      `the server follows ${names === '' ? 'no source: describe it in the member sync of its config file' : `only ${names}`}`,
    );
  }

  async #all(signal?: AbortSignal): Promise<SyncDescription[]> {
    type List = { syncs: SyncDescription[] };
    const shape = { syncs: [SYNC] } as const;
    return (await this.#transport.json<List>('GET', '/sync', shape, undefined, { signal })).syncs;
  }

  #isWanted(sync: SyncDescription, name: string | undefined): boolean {
    return (name ?? sync.name) === sync.name && (this.#database ?? sync.database) === sync.database;
  }

  /** Lets the server make a pass, and waits until it is complete. */
  async pass(
    name: string | undefined,
    kind: SyncRequest,
    signal: AbortSignal,
    bar: ProgressBar,
  ): Promise<MadePass> {
    const [before, ...others] = await this.list(name, signal);
    if (before === undefined || others.length > 0) {
      throw invalid(`name a source: ${[before, ...others].map((sync) => sync?.name).join(', ')}`);
    }
    const body = kind === 'confirm' ? { withheld: before.withheld } : undefined;
    const path = `/sync/${before.name}/${kind}`;
    let now = await this.#transport.json<SyncDescription>('POST', path, SYNC, body, { signal });
    let last = '';
    while (now.requested?.includes(kind)) {
      const { state, reason = '', next_attempt, progress } = now;
      if (progress !== undefined) bar.update('synced', progress.rows, progress.total);
      if (state === 'failed' && next_attempt !== undefined) throw new CosiftError('source_failed', reason);
      if (state === 'waiting' && reason !== last) note(`waiting: ${reason}`);
      last = state === 'waiting' ? reason : last;
      await sleep(POLL_MS, signal);
      now = (await this.list(before.name, signal))[0] as SyncDescription;
    }
    bar.clear();
    const whole = now.last_whole_pass;
    if (whole === undefined || whole.at === before.last_whole_pass?.at) {
      throw new CosiftError(
        'source_unavailable',
        now.reason ?? 'the server ended before the pass was complete',
      );
    }
    return { counts: whole, description: now };
  }
}
