import type { Random } from '../helpers/random.js';
import { type Boost, SCALES, TIME_MEMBERS } from './boost-oracle.js';
import { DAY, randomFilter, START, TIMES } from './random-records.js';

/** Up to four boosts of every kind for a request of a form. */
export function randomBoosts(random: Random, isOfVariantB: boolean): Boost[] {
  const boosts: Boost[] = [];
  let left = 1;
  for (let count = random.below(5); count > 0; count--) {
    const weight = Math.floor(left * random.pick([0, 0.1, 0.3, 0.5, 1]) * 1e9) / 1e9;
    left -= weight;
    boosts.push({ weight, ...randomPart(random, isOfVariantB) });
  }
  return boosts;
}

function randomPart(random: Random, isOfVariantB: boolean): Omit<Boost, 'weight'> {
  const span = () => random.pick<number | string>([...Object.keys(SCALES), 1, 0.5, 3 * DAY, 1e300]);
  switch (random.below(5)) {
    case 0:
      return { filter: randomFilter(random, 2) };
    case 1:
      return {
        column: random.pick(['visited', 'mixed', 'colour']),
        target: random.pick(TIMES),
        scale: span(),
      };
    case 2: {
      const names = Object.keys(TIME_MEMBERS).filter((name) => name.endsWith('_time') === isOfVariantB);
      const at = START + random.below(40) * DAY;
      const target = random.pick<number | string>([at, new Date(at).toISOString()]);
      return { time: random.pick(names), target, scale: span() };
    }
    default: {
      const column = random.pick(['size', 'size', 'mixed', 'rare', 'never given']);
      const target = random.pick([random.below(40) / 3 - 3, 0.3, 1e300, -1e300, 2 ** 53]);
      return { column, target, scale: random.pick([5e-324, 0.7, 3, 12, 1e16, 1.7e308]) };
    }
  }
}
