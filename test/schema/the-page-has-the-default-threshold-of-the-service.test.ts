import { expect, test } from 'vitest';
import { defaultThreshold } from '../../src/schema/index.js';

// A module of the page, which has no types.
const { thresholdOf } = await import(new URL('../../web/query.js', import.meta.url).href);

test('for every weight of words', () => {
  for (let percent = 0; percent <= 100; percent += 1) {
    const lexical = percent / 100;
    expect(thresholdOf({ lexical }), String(lexical)).toBe(defaultThreshold(lexical));
  }
  expect(defaultThreshold()).toBe(0.2);
  expect(defaultThreshold(0.3)).toBe(0.14);
  expect(thresholdOf({ lexical: 0.3, threshold: 0 })).toBe(0);
});
