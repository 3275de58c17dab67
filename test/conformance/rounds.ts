import { test } from 'vitest';
import { inFull, testInFull } from '../helpers/full.js';
import type { OpenDatabases } from './open-databases.js';

/** `all`; in `npm test` `few` on a store that is a server, where the same takes several times as long. */
export function timesOn<const All, const Few>(open: OpenDatabases, all: All, few: Few): All | Few {
  return open.isServer ? inFull(all, few) : all;
}

/** `test`; on a store that is a server {@link testInFull}, for what other tests have a small round of. */
export function testWholeOn(open: OpenDatabases): typeof testInFull {
  return open.isServer ? testInFull : test;
}
