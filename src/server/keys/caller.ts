import { ACTIONS, type Action, type FilterGroup } from '../../schema/index.js';

/** The key that sends a request, and what it may do. */
export interface Caller {
  readonly keyId: string;
  readonly name: string;
  readonly actions: ReadonlySet<Action>;
  /** undefined: all databases. */
  readonly databases: ReadonlySet<string> | undefined;
  /** Every group of the filter has a `condition`, so it may be forced on every request. */
  readonly filter: FilterGroup | undefined;
  /** Milliseconds since 1970; infinite for a key that does not expire. */
  readonly expiresAt: number;
  /** The ids of the keys through which this key was issued; the last one issued it. */
  readonly ancestors: readonly string[];
  /** {@link ancestors} and the id of the key, joined by `/`. Limits count a request for each of them. */
  readonly path: string;
}

/** The caller who holds the admin key or can read the data directory. */
export const ADMIN: Caller = {
  keyId: 'admin',
  name: 'admin',
  actions: new Set(ACTIONS),
  databases: undefined,
  filter: undefined,
  expiresAt: Number.POSITIVE_INFINITY,
  ancestors: [],
  path: 'admin',
};

/**
 * Returns whether `caller` could have issued the key of `other`, and so may list and revoke it. A key never manages the
 * keys through which it was issued itself.
 */
export function mayManage(caller: Caller, other: Caller): boolean {
  if (caller.ancestors.includes(other.keyId)) return false;
  if (caller.filter !== undefined && !other.ancestors.includes(caller.keyId)) return false;
  if (other.expiresAt > caller.expiresAt) return false;
  for (const action of other.actions) if (!caller.actions.has(action)) return false;
  if (caller.databases === undefined) return true;
  if (other.databases === undefined) return false;
  for (const database of other.databases) if (!caller.databases.has(database)) return false;
  return true;
}
