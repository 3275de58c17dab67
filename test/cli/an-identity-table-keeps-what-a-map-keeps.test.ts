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
    const name = key.join();
    // A call of `expect` takes much longer than the table.
    if (table.get(key) !== (map.get(name) ?? 0)) expect(table.get(key), name).toBe(map.get(name) ?? 0);
    const value = 1 + (next() % 1_000_000);
    table.set(key, value);
    map.set(name, value);
  }
  for (const [name, value] of map) {
    const found = table.get(Uint32Array.from(name.split(','), Number));
    if (found !== value) expect(found, name).toBe(value);
  }
});
