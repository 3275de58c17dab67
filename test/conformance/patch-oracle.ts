import type { Data } from '../../src/schema/index.js';

/** Returns the data after a patch, by JSON Merge Patch (RFC 7396). Changed columns keep their place. */
export function patched(data: Data, changes: Data): Data {
  const cells = new Map(Object.entries(data));
  for (const [column, value] of Object.entries(changes)) {
    if (value === null) cells.delete(column);
    else cells.set(column, value);
  }
  const merged = Object.fromEntries(cells);
  // A null counts as absent, so removing it changes nothing, and what is unchanged is not stored again.
  return contentOf(merged) === contentOf(data) ? data : merged;
}

/** Returns what decides whether a record is changed: its values by column, without nulls. */
export function contentOf(data: Data): string {
  const cells = Object.entries(data).filter(([, value]) => value !== null);
  return JSON.stringify(cells.sort(([a], [b]) => (a < b ? -1 : 1)));
}
