import { type TestContext, type TestFunction, test } from 'vitest';

/** Whether every test runs in full (`npm run test:all`). */
const FULL = process.env.TESTS_IN_FULL !== undefined;

/** `all` in a full run, otherwise `few`: a test that takes long runs a small round of itself in `npm test`. */
export function inFull<const All, const Few>(all: All, few: Few): All | Few {
  return FULL ? all : few;
}

/** Skips a test whose small round is another test, except in a full run. */
export function onlyInFull({ skip }: TestContext): void {
  if (!FULL) skip('only in npm run test:all');
}

/** Like `test`, for what another test of `npm test` has a small round of: skipped except in a full run. */
export function testInFull(name: string, body: TestFunction, timeout?: number): void {
  test(name, inFull(body, onlyInFull), timeout);
}
