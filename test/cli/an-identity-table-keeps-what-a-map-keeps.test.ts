import { expect, test } from 'vitest';
import { IdentityTable } from '../../src/readers/identity/table.js';
import { Random } from '../helpers/random.js';

test.each([
  ['random keys', (next: () => number) => Uint32Array.of(next(), next(), next(), next() % 3)],
  ['integers', (next: () => number) => Uint32Array.of(0, 0, 0, next() % 20_000)],
  ['keys that differ in one word', (next: () => number) => Uint32Array.of(next() % 20_000, 7, 7, 7)],
  ['zero among them', (next: () => number) => Uint32Array.of(0, next() % 2, 0, next() % 5_000)],
])('%s', (_, keyOf) => {
  const random = new Random(11);
  const next = () => random.below(2 ** 32);
  const table = new IdentityTable(16);
  const map = new Map<string, number>();
  for (let round = 0; round < 40_000; round += 1) {
    const key = keyOf(next);
    expect(table.get(key)).toBe(map.get(key.join()) ?? 0);
    const value = 1 + (next() % 1_000_000);
    table.set(key, value);
    map.set(key.join(), value);
  }
  for (const [key, value] of map) expect(table.get(Uint32Array.from(key.split(','), Number))).toBe(value);
});
