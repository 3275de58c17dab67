/**
 * The path of a caller: the ids of the keys through which its key was issued and of that key, joined by `/`, the first
 * issuer first. What a caller uses counts for each key of its path, so a key gets no larger share by issuing keys.
 */

/** The part of the share of a key that each key which it issued may use. */
export const PART_OF_ISSUER = 3 / 4;

/** The first key of a path. All callers whose paths begin with the same key are a group. */
export function groupOf(path: string): string {
  const end = path.indexOf('/');
  return end < 0 ? path : path.slice(0, end);
}

/** The paths of all keys of a path, the first issuer first: `a`, `a/b` for `a/b`. */
export function keysOf(path: string): string[] {
  const keys: string[] = [];
  for (let end = path.indexOf('/'); end >= 0; end = path.indexOf('/', end + 1)) keys.push(path.slice(0, end));
  keys.push(path);
  return keys;
}

/** The share of a key of a path whose first key has `share`: at least 1. */
export function shareOf(path: string, share: number, part = PART_OF_ISSUER): number {
  let ofKey = share;
  for (let end = path.indexOf('/'); end >= 0; end = path.indexOf('/', end + 1)) {
    ofKey = Math.max(1, Math.floor(ofKey * part));
  }
  return ofKey;
}
