/** Seeded generator (mulberry32): the same numbers on every machine. Source: https://github.com/bryc/code/blob/master/jshash/PRNGs.md */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** Returns a number from 0 to less than 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let z = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    z = (z + Math.imul(z ^ (z >>> 7), 61 | z)) ^ z;
    return ((z ^ (z >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns an integer from 0 to `count - 1`. */
  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  /** Returns an item of a list that is not empty. */
  pick<const T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }
}
