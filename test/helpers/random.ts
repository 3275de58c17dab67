import { Random as Generator } from '../../src/cli/bench/random.js';

/** The same numbers for the same seed everywhere. */
export class Random extends Generator {
  /** True with a probability of `percent`. */
  chance(percent: number): boolean {
    return this.next() * 100 < percent;
  }
}
