import { expect, test } from 'vitest';
import { typeScriptIsBuilt } from '../../scripts/setup.mjs';

test('dist, which worker threads and commands run from, is compiled from src as it is', () => {
  expect(typeScriptIsBuilt()).toBe(true);
});
