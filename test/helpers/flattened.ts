import { readFileSync } from 'node:fs';

/** Data as JSON, and what becomes of it with the setting `flatten`: also JSON, or else the problem. */
export interface Flattened {
  name: string;
  data: string;
  flat: string | null;
  problem: { pointer: string; code: string } | null;
}

export const FLATTENED: readonly Flattened[] = JSON.parse(
  readFileSync(new URL('../golden/flattened.json', import.meta.url), 'utf8'),
);
