/** What a pass did. */
export interface SyncCounts {
  /** Rows that were read. */
  read: number;
  /** Records that are new or have other content, or other times of the source. */
  written: number;
  /** Records that had this content and these times already. */
  unchanged: number;
  deleted: number;
  /** Rows of the source that could not become records. */
  refused: number;
  /** Records that wait for a confirmation to be deleted. */
  withheld: number;
}

/** How far a pass is. */
export interface SyncProgress {
  /** Rows whose records are stored, or that were refused. */
  rows: number;
  /** Rows of the source, where it can tell. */
  total?: number | undefined;
}
