import { type TestFunction, test } from 'vitest';
import { inFull } from '../helpers/full.js';
import type { OpenDatabases } from './open-databases.js';

/** Why the contract is short on a database server, where the same takes several times as long. */
export const SHORT_ON_SERVERS: string | undefined = inFull(undefined, 'only in npm run test:all');

/** `all`; `few` on a store whose tests have small rounds only. */
export function timesOn<const All, const Few>(open: OpenDatabases, all: All, few: Few): All | Few {
  return open.shortBecause === undefined ? all : few;
}

/** `seeds` where tests run in full, otherwise the first. */
export function seedsOn(open: OpenDatabases, seeds: readonly number[]): readonly number[] {
  const first = seeds.slice(0, 1);
  return timesOn(open, inFull(seeds, first), first);
}

/** `test` for what other tests have a small round of. */
export function testWholeOn({ shortBecause }: OpenDatabases): (name: string, body: TestFunction) => void {
  return (name, body) => test(name, shortBecause === undefined ? body : ({ skip }) => skip(shortBecause));
}
