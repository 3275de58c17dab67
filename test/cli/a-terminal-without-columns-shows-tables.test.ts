import { afterEach, expect, test, vi } from 'vitest';
import { outputWidth } from '../../src/cli/output.js';

afterEach(() => vi.unstubAllGlobals());

test.each([
  [true, 0, 80],
  [true, undefined, 80],
  [true, 120, 120],
  [false, undefined, Number.POSITIVE_INFINITY],
])('a terminal (%s) of %s columns gets lines of %s', (isTTY, columns, width) => {
  vi.stubGlobal('process', { ...process, stdout: { isTTY, columns } });
  expect(outputWidth()).toBe(width);
});
