/** A small generator that gives the same numbers for the same seed everywhere (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A number from 0 to less than 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer from 0 to less than `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  /** True with a probability of `percent`. */
  chance(percent: number): boolean {
    return this.next() * 100 < percent;
  }

  pick<const T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }
}
