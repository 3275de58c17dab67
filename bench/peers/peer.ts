import type { Dataset } from '../data/dataset.js';
import type { Filter } from '../data/filters.js';

/** Records of one page, best first; scores are cosines. */
export interface Hits {
  readonly ids: readonly number[];
  readonly scores: readonly number[];
  /** Where the next page starts, for systems with a cursor. */
  readonly next?: string;
  /** Time inside a system that runs as a process of its own, in microseconds: taken instead of the clock around the call. */
  readonly micros?: number;
}

/** One page of one search. */
export interface PageRequest {
  readonly filter: Filter;
  readonly threshold: number;
  readonly limit: number;
  /** 0-based. Systems without a cursor ask for (page + 1) x limit records and keep the last `limit`. */
  readonly page: number;
  readonly cursor?: string;
}

/** A system that is measured: an engine of our own or a peer, in one process of its own. */
export interface Peer {
  /** Brings all records in, and everything that makes searching fast: indexes are built here. */
  load(dataset: Dataset, directory: string): Promise<void> | void;
  /** Waits for the end of what goes on in the background after a load. */
  settle?(): Promise<void>;
  /** Answers one search. */
  search(query: Float32Array, request: PageRequest): Promise<Hits> | Hits;
  /** Answers many searches at once, first pages only, where the system has a call for that. */
  searchMany?(queries: readonly Float32Array[], request: PageRequest): Promise<unknown> | unknown;
  /** Opens what `load` left in the directory, in a fresh process; missing where nothing can be kept. */
  reopen?(dataset: Dataset, directory: string): Promise<void> | void;
  close(): Promise<void> | void;
}

/** What the report says of a system. */
export interface PeerCard {
  readonly name: string;
  /** Whether it claims to find every record. */
  readonly exact: boolean;
  /** Largest database it is measured with. */
  readonly maxRecords: number;
  /** Settings that differ from the system's defaults, for the report. */
  readonly settings: string;
  /** Whether it is ours: then it is loaded anew in every run. */
  readonly ours?: boolean;
  /** Whether `reopen` finds what an earlier run has built. */
  readonly keeps?: boolean;
  /** Whether it takes minutes to build: then only `--full` has it. */
  readonly slow?: boolean;
  make(options: PeerOptions): Promise<Peer>;
}

/** How a system is to run. */
export interface PeerOptions {
  /** Threads one search may use; of 2 or more, searches at the same time may use them too. */
  readonly threads: number;
}

/** The page of a longer answer, with what is below the threshold left out. */
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

/** How many records a system without a cursor must find for a page. */
export function reach({ page, limit }: PageRequest): number {
  return (page + 1) * limit;
}
