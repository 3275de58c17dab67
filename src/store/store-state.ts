export interface ProgressOptions {
  /** Ends the call. */
  signal?: AbortSignal | undefined;
  /** Whether the sizes on disk are wanted, which some stores read file by file. Default: false. */
  sizes?: boolean | undefined;
}

/** The state and the size of a database. */
export interface DatabaseProgress {
  id: string;
  loaded: boolean;
  /** False while the database is not loaded, and while it refuses writes after a failure; it can still be read then. */
  writable: boolean;
  /** While the database is being loaded, the records that are loaded already. */
  records: number;
  memoryBytes: number;
  /** Absent where it was not asked for, or has not been read yet. */
  diskBytes?: number | undefined;
  /**
   * Why the database could not be opened, `drop_failed` when it could not be dropped, or `no_answer` while its server does
   * not answer. Such a database is not served.
   */
  problem?: { code: string; detail: string };
}

/** The work of a store. Totals count from the opening of the store. */
export interface StoreStats {
  searches: SearchStats;
  commits: CommitStats;
}

export interface SearchStats {
  /** Searches that have not begun. */
  waiting: number;
  /** Scans that are running. Several searches may share one scan. */
  running: number;
  answered: number;
  /** Bytes of vectors that searches have read. */
  bytesRead: number;
}

export interface CommitStats {
  /** Writes that have not begun. */
  waiting: number;
  /** Durable transactions. */
  count: number;
  /** Total commit time in milliseconds. */
  totalMs: number;
}

/** Events that a store reports to the log of the service. */
export interface StoreEvents {
  /** Oldest first. */
  events: StoreEvent[];
  /** Events lost since the last call because the queue was full. */
  dropped: number;
}

export interface StoreEvent {
  /** Milliseconds since 1970. */
  at: number;
  level: 'info' | 'warn' | 'error';
  code: string;
  /** Absent when the event concerns no database. */
  database?: string;
  /** The cause. */
  text: string;
}
