import type { FilterGroup, KeyDescription } from '../../schema/index.js';
import { ADMIN, type Caller } from './caller.js';

/** What is stored of a key: never the key itself. */
export interface StoredKey extends Omit<KeyDescription, 'issued_by'> {
  /** The hexadecimal hash of the whole key. */
  sha256: string;
  /** The ids of the keys through which the key was issued; the last one issued it. None: the admin key issued it. */
  ancestors: string[];
}

/** A stored key in the form in which requests need it. */
export interface KeyEntry {
  stored: StoredKey;
  hash: Buffer;
  caller: Caller;
}

export function entryOf(stored: StoredKey): KeyEntry {
  const { ancestors } = stored;
  const seesAll = stored.databases === '*' || stored.databases.includes('*');
  return {
    stored,
    hash: Buffer.from(stored.sha256, 'hex'),
    caller: {
      keyId: stored.key_id,
      name: stored.name,
      actions: new Set(stored.actions),
      databases: seesAll ? undefined : new Set(stored.databases),
      filter: stored.filter && withConditions(stored.filter),
      expiresAt: stored.expires_at === undefined ? Number.POSITIVE_INFINITY : Date.parse(stored.expires_at),
      ancestors,
      path: [...ancestors, stored.key_id].join('/'),
    },
  };
}

export function describeKey({ sha256: _, ancestors, ...description }: StoredKey): KeyDescription {
  return { ...description, issued_by: ancestors.at(-1) ?? ADMIN.keyId };
}

/** Adds `AND` wherever the condition is absent. */
export function withConditions(group: FilterGroup): FilterGroup {
  return {
    condition: group.condition ?? 'AND',
    rules: group.rules.map((rule) => ('rules' in rule ? withConditions(rule) : rule)),
  };
}
