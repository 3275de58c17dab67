import type { FilterGroup } from '../schema/index.js';

/** What the key of a caller adds to a request: a record outside `forcedFilter` does not exist for the caller. */
export interface Scope {
  /** The path of the key. Keys take turns where requests wait. */
  caller?: string;
  forcedFilter?: FilterGroup;
}

export interface ScopedOptions {
  scope?: Scope;
  /** Ends the call. */
  signal?: AbortSignal;
}
