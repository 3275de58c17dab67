import { expect, test } from 'vitest';
import { parseBoost } from '../../src/where/parse-boost.js';

const france = { column: 'country', operator: 'equals', value: 'France' };

test.each([
  ["0.2 where country = 'France'", { weight: 0.2, filter: { rules: [france] } }],
  ["0.2 where(country = 'France')", { weight: 0.2, filter: { rules: [france] } }],
  [" 1 WHERE country = 'France' ", { weight: 1, filter: { rules: [france] } }],
  [
    "0.2 where country = 'France' or year > 3",
    {
      weight: 0.2,
      filter: { condition: 'OR', rules: [france, { column: 'year', operator: 'greater_than', value: 3 }] },
    },
  ],
  [`0.2 where ${JSON.stringify({ rules: [france] })}`, { weight: 0.2, filter: { rules: [france] } }],
  ['0.3 by year near 1900 within 50', { weight: 0.3, column: 'year', target: 1900, scale: 50 }],
  ['0.3 BY year NEAR -1.5 WITHIN 1e3', { weight: 0.3, column: 'year', target: -1.5, scale: 1000 }],
  ['0.3 by "a where b" near 1 within 2', { weight: 0.3, column: 'a where b', target: 1, scale: 2 }],
  [
    "0.1 by opened near '1889-03-31' within 'P365D'",
    { weight: 0.1, column: 'opened', target: '1889-03-31', scale: 'P365D' },
  ],
  [
    "0.1 by time synced_at near '2026-01-31' within 1000",
    { weight: 0.1, time: 'synced_at', target: '2026-01-31', scale: 1000 },
  ],
  ['0.1 by time near 3 within 4', { weight: 0.1, column: 'time', target: 3, scale: 4 }],
  [`0.1 by "time" near 3 within 4`, { weight: 0.1, column: 'time', target: 3, scale: 4 }],
])('%s', (text, expected) => {
  expect(parseBoost(text)).toEqual(expected);
});

test.each([
  ['', /a weight such as 0\.2 is expected first/],
  ["'0.3' by a near 1 within 5", /a weight such as 0\.2 is expected first/],
  [
    '0.3 by a near null within 5',
    /a number such as 1900, or a time such as '2026-01-31', is expected after near/,
  ],
  [
    '0.3 by a near 1 within true',
    /a number such as 50, or a duration such as 'P30D', is expected after within/,
  ],
  ['much where a = 1', /much is not a number/],
  ['0.2', /where or by is expected after the weight/],
  ['0.2 a near 3 within 4', /where or by is expected after the weight\n {2}0\.2 a near 3 within 4\n {6}\^/],
  ['0.2 where a', /operator/],
  ['0.2 by a at 3', /near is expected here/],
  [
    '0.2 by a near b within 3',
    /a number such as 1900, or a time such as '2026-01-31', is expected after near/,
  ],
  ['0.2 by a near 3', /within is expected here/],
  ['0.2 by a near 3 within 4 or b', /the end of the boost is expected here/],
  ['0.2 by time seen near 3 within 4', /one of created_at, changed_at, synced_at is expected after time/],
])('%s is refused with its place', (text, detail) => {
  expect(() => parseBoost(text)).toThrow(detail);
});
