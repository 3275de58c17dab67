import { AsyncLocalStorage } from 'node:async_hooks';
import type { Databases, FilterGroup, Query } from '../../api/index.js';
import { Client } from '../../client/index.js';
import { Cosift } from '../../library/cosift.js';
import { checkSearchRequest, DEFAULTS, type Page, type StoredRecord } from '../../schema/index.js';
import { checkDataDirectory, connection, openDirectory, type TargetOptions } from '../target.js';

/** A page, and the parts of its time in milliseconds that cosift itself measured. */
export interface SearchResult {
  results: readonly Pick<StoredRecord, 'id' | 'relevance_score'>[];
  /** Time until the text had its vector. */
  embedMs: number;
  /** Time of the engine. */
  searchMs: number;
}

/** What is measured: a data directory or a server. */
export interface BenchTarget {
  readonly databases: Databases;
  search(
    database: string,
    query: Query,
    filter: FilterGroup | undefined,
    signal: AbortSignal,
  ): Promise<SearchResult>;
}

/** What searches ask for, whatever the defaults of the database. */
export const SCORES = { threshold: DEFAULTS.threshold, lexical: 0, limit: DEFAULTS.limit };

/** Opens a data directory or a server. A missing directory is created only with `create`. */
export async function openBenchTarget(options: TargetOptions, { create = false } = {}): Promise<BenchTarget> {
  if (options.url !== undefined) return ofServer(options.url, options);
  if (!create) await checkDataDirectory(options);
  const databases = await openDirectory(options);
  return {
    databases: new Cosift(databases),
    search: async (database, search, filter, signal) => {
      const { limit, ...scores } = SCORES;
      const checked = checkSearchRequest({
        search: { ...(search as object), ...scores },
        pagination: { limit },
        ...(filter && { filter }),
      });
      const { body, timings } = await databases.reader.search(database, checked, { form: 'both', signal });
      const { results } = JSON.parse(Buffer.from(body).toString('utf8')) as Page<StoredRecord>;
      return { results, embedMs: timings.embedMs, searchMs: timings.searchMs };
    },
  };
}

function ofServer(url: string, options: TargetOptions): BenchTarget {
  // Searches run at the same time, and the client does not return the headers of their responses.
  const header = new AsyncLocalStorage<{ value: string }>();
  const client = new Client({
    ...connection(url, options),
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      const store = header.getStore();
      if (store !== undefined) store.value = response.headers.get('server-timing') ?? '';
      return response;
    },
  });
  return {
    databases: client,
    search: async (database, query, filter, signal) => {
      const timing = { value: '' };
      const { results } = await header.run(timing, () =>
        client.database(database).search(query, { filter, signal, ...SCORES }),
      );
      return { results, embedMs: partOf(timing.value, 'embed'), searchMs: partOf(timing.value, 'search') };
    },
  };
}

/** Returns a duration of a header `server-timing`; NaN when the header lacks it, as behind a proxy that removes it. */
function partOf(timing: string, name: string): number {
  return Number(new RegExp(`\\b${name};dur=([\\d.]+)`).exec(timing)?.[1] ?? Number.NaN);
}
