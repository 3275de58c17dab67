import type { Dataset } from '../data/dataset.js';
import type { Filter } from '../data/filters.js';

/** The records of one page, best first. Scores are cosines. */
export interface Hits {
  readonly ids: readonly number[];
  readonly scores: readonly number[];
  /** The cursor of the next page, for systems with cursors. */
  readonly next?: string;
  /**
   * For a system in its own process: its time in microseconds, which replaces the time of the call. The first of many hits has
   * that of all.
   */
  readonly micros?: number;
}

/** One page of one search. */
export interface PageRequest {
  readonly filter: Filter;
  readonly threshold: number;
  readonly limit: number;
  /** 0-based. Systems without cursors request (page + 1) x limit records and keep the last `limit`. */
  readonly page: number;
  readonly cursor?: string;
}

/** A system that is measured, cosift or a peer, in its own process. */
export interface Peer {
  /** Loads all records and builds all indexes. */
  load(dataset: Dataset, directory: string): Promise<void> | void;
  /** Waits until background work after a load is done. */
  settle?(): Promise<void>;
  /** Runs one search. */
  search(query: Float32Array, request: PageRequest): Promise<Hits> | Hits;
  /** Runs many searches in one call, first pages only; absent if the system has no such call. */
  searchMany?(queries: readonly Float32Array[], request: PageRequest): Promise<Hits[]> | Hits[];
  /** Opens what `load` stored in the directory, in a new process; absent if the system stores nothing. */
  reopen?(dataset: Dataset, directory: string): Promise<void> | void;
  close(): Promise<void> | void;
}

/** The description of a system for the report. */
export interface PeerCard {
  readonly name: string;
  /** Whether the system claims to be exact. */
  readonly exact: boolean;
  /** Maximum number of records that it is measured with. */
  readonly maxRecords: number;
  /** Settings that differ from the defaults of the system. */
  readonly settings: string;
  /** Whether it is cosift, which is loaded again in every run. */
  readonly ours?: boolean;
  /** Whether `reopen` can open what an earlier run built. */
  readonly keeps?: boolean;
  /** Whether building takes minutes. Such a system is measured only with `--full`. */
  readonly slow?: boolean;
  make(options: PeerOptions): Promise<Peer>;
}

/** Options of a system. */
export interface PeerOptions {
  /** Maximum threads of one search. Concurrent searches share two or more threads. */
  readonly threads: number;
}

/** Cuts a page out of a longer result, without records below the threshold. */
export function cutPage(ids: readonly number[], scores: readonly number[], request: PageRequest): Hits {
  const { page, limit, threshold } = request;
  const end = Math.min(ids.length, (page + 1) * limit);
  const pageIds: number[] = [];
  const pageScores: number[] = [];
  for (let i = page * limit; i < end; i++) {
    if ((scores[i] as number) < threshold) break;
    pageIds.push(ids[i] as number);
    pageScores.push(scores[i] as number);
  }
  return { ids: pageIds, scores: pageScores };
}

/** The number of records that a system without cursors must find for a page. */
export function reach({ page, limit }: PageRequest): number {
  return (page + 1) * limit;
}
