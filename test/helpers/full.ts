import type { TestContext } from 'vitest';

/** Whether every test runs in full (`npm run test:all`). */
const FULL = process.env.TESTS_IN_FULL !== undefined;

/** `all` in a full run, otherwise `few`: a test that takes long runs a small round of itself in `npm test`. */
export function inFull<T>(all: T, few: T): T {
  return FULL ? all : few;
}

/** Skips a test whose small round is another test, except in a full run. */
export function onlyInFull({ skip }: TestContext): void {
  if (!FULL) skip('only in npm run test:all');
}
