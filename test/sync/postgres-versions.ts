import { test } from 'vitest';
import type { PostgresVersion } from '../../scripts/postgres/server.js';
import { testInFull } from '../helpers/full.js';

export const NEWEST: PostgresVersion = 18;

/** The versions of PostgreSQL that are followed in the tests. */
export const VERSIONS: readonly PostgresVersion[] = [16, NEWEST];

/** `test` for what is the same in every version: all of them only in a full run. */
export function testOnceOf(version: PostgresVersion): typeof testInFull {
  return version === NEWEST ? test : testInFull;
}
