import type { DatasetKey } from '../data/dataset.js';
import type { Filter } from '../data/filters.js';
import type { Hits } from './peer.js';

/** Searches of one kind: the first `queries` queries of the dataset, one page each. */
export interface Cell {
  readonly filter: Filter;
  readonly limit: number;
  /** 0-based. */
  readonly page: number;
  readonly queries: number;
  /** The cursor of each query's page, if another process found it. */
  readonly cursors?: readonly string[];
}

/** A command to the host of a system. */
export type Command =
  | { readonly op: 'load'; readonly key: DatasetKey; readonly directory: string }
  | { readonly op: 'reopen'; readonly key: DatasetKey; readonly directory: string }
  | { readonly op: 'answers'; readonly cell: Cell; readonly batched?: boolean }
  | {
      readonly op: 'drain';
      readonly filter: Filter;
      readonly limit: number;
      readonly pages: number;
      readonly query: number;
    }
  | { readonly op: 'round'; readonly cell: Cell; readonly batched?: boolean }
  | {
      readonly op: 'clients';
      readonly cell: Cell;
      readonly clients: number;
      readonly ms: number;
      readonly batched: boolean;
    }
  | { readonly op: 'memory' }
  | { readonly op: 'close' };

/** Times of single searches, or of one call for all, in microseconds. */
export interface Round {
  readonly wall: number[];
  /** Processor time of the process. */
  readonly cpu: number[];
}

/** The results of concurrent clients. */
export interface Crowd {
  /** Searches per second. */
  readonly throughput: number;
  /** Microseconds. */
  readonly wall: number[];
}

/** Replies by command. */
export interface Replies {
  load: { readonly ms: number };
  reopen: { readonly ms: number; readonly firstAnswerMs: number };
  answers: Hits[];
  drain: Hits[];
  round: Round;
  clients: Crowd;
  memory: { readonly residentBytes: number; readonly beforeBytes: number };
  close: null;
}

/** A reply, or the text of the error. */
export type Reply = { readonly value: unknown } | { readonly error: string };
