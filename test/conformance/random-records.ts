import { v5 } from 'uuid';
import type { Data, FilterGroup, FilterRule } from '../../src/schema/index.js';
import type { Random } from '../helpers/random.js';
import type { KnownRecord } from './oracle.js';

/** Values of a vector of a random record. */
export const DIMENSIONS = 12;

/** Strings that stores tend to confuse: case, wildcards, quotes, normalisation, code points beyond 16 bits. */
const WORDS = [
  '',
  ' ',
  'red',
  'Red',
  'reddish',
  'red blue red',
  'blue',
  'b_ue',
  'r%d',
  'a"b\\',
  "it's",
  'naïve',
  'nai\u0308ve',
  '日本語',
  '\uffee',
  '😀',
  '1',
  'true',
  'null',
];
const NUMBERS = [0, 1, -1.5, 0.1 + 0.2, 0.3, 1e300, -1e300, 5e-324, 2 ** 53, 1e16];
/** Times in several forms, some of them equal, and texts that are no times. */
export const TIMES = [
  '2026-01-31',
  '2026-01-31T00:00Z',
  '2026-01-31T05:45:00.000+05:45',
  '2026-01-31T00:00:00.000000001Z',
  '2026-01-30T23:59:59.999999999Z',
  '2024-02-29',
  '1969-12-31T23:59:59.5Z',
  '0000-01-01',
  '9999-12-31T23:59:59.999999999Z',
];
const NO_TIMES = ['2026-02-29', '2026-01-31T00:00', '0000-01-01T00:00+00:01', '2026-01-31 00:00Z'];
const COLUMNS = ['colour', 'size', 'open', 'mixed', 'visited', '__proto__', 'rare'];
const NEEDLES = ['', 'r', 'red', 'ue', 'R', ' ', '%', '_', '\\', "'", '"', 'ï', '日', '\ud83d\ude00'];

/** The first millisecond of 2026. */
export const START = Date.UTC(2026, 0, 1);
export const DAY = 86_400_000;

/** A UUID for an id. The order of the UUIDs is not the order of the ids, so ties differ between the variants. */
export function uuidOf(id: number): string {
  const mixed = (Math.imul(id, 2_654_435_761) >>> 0).toString(16).padStart(8, '0');
  return `${mixed}-0000-4000-8000-${id.toString(16).padStart(12, '0')}`;
}

/** The identities of a record. Every third record has a key. */
export function identityOf(id: number) {
  if (id % 3 !== 1) return { id, uuid: uuidOf(id) };
  const key = `key:№ ${id}/`;
  return { id, key, uuid: v5(key, '6d3f3c1e-5b0a-4a7e-9a5e-2f6c1c0d8b41') };
}

/** Vectors are drawn from a few, so that many scores tie. */
export function randomRecords(random: Random, count: number): KnownRecord[] {
  const vectors = Array.from({ length: Math.ceil(count / 8) }, () => randomVector(random));
  return Array.from({ length: count }, (_, at) => ({
    ...identityOf(at + 1),
    data: randomData(random),
    vector: random.pick(vectors),
    created: START + random.below(40) * DAY,
    changed: START + random.below(2_000),
    // Few distinct times, so that records tie in the default order of a query too.
    synced: START + random.below(60) * 1_000,
  }));
}

/** A vector of any length: only its direction counts. */
export function randomVector(random: Random): number[] {
  const leaning = random.below(DIMENSIONS);
  return Array.from({ length: DIMENSIONS }, (_, at) => {
    const value = random.next() * 2 - (at === leaning ? 0 : 0.7);
    return at % 3 === 0 ? Math.fround(value) : value;
  });
}

/** Values for most columns, some of them lists. The values of `mixed` and `rare` have any type. */
export function randomData(random: Random): Data {
  const columns = COLUMNS.filter((column) => random.chance(column === 'rare' ? 4 : 85));
  const drawn = (column: string) =>
    random.chance(15) ? randomList(random, column) : randomValue(random, column);
  // `fromEntries` gives the object a column of its own that is called `__proto__`.
  return Object.fromEntries(columns.map((column) => [column, drawn(column)]));
}

/** A list of values of a column, some of which may be equal. */
function randomList(random: Random, column: string): Scalar[] {
  return Array.from({ length: random.below(5) }, () => randomValue(random, column) ?? 1);
}

type Scalar = string | number | boolean;

function randomValue(random: Random, column: string): Scalar | null {
  switch (column) {
    case 'colour':
      return random.pick(WORDS);
    case 'size':
      return random.below(50) / 4 - 3;
    case 'open':
      return random.chance(50);
    case 'visited':
      return random.pick(random.chance(85) ? TIMES : NO_TIMES);
    case '__proto__':
      return `${random.pick(WORDS)} ${random.below(30)}`;
    default:
      return [null, random.pick(NUMBERS), random.chance(50), random.pick(WORDS), random.pick(TIMES)][
        random.below(5)
      ]!;
  }
}

/** A filter of at most `depth` nested groups. Many such filters use every operator. */
export function randomFilter(random: Random, depth: number): FilterGroup {
  const rules = Array.from({ length: 1 + random.below(3) }, () =>
    depth > 1 && random.chance(35) ? randomFilter(random, depth - 1) : randomRule(random),
  );
  return { condition: random.chance(55) ? 'AND' : 'OR', rules };
}

function randomRule(random: Random): FilterRule {
  const column = random.chance(4) ? 'never given' : random.pick(COLUMNS);
  switch (random.below(6)) {
    case 0: {
      const value = randomValue(random, column) ?? 1;
      return { column, operator: random.pick(['equals', 'not_equals']), value };
    }
    case 1: {
      const operator = random.pick([
        'greater_than',
        'less_than',
        'greater_than_or_equals',
        'less_than_or_equals',
      ]);
      const numeric = random.pick(['size', 'size', 'mixed', column]);
      const value = numeric === 'mixed' ? random.pick(NUMBERS) : random.below(60) / 4 - 4;
      return { column: numeric, operator, value };
    }
    case 2: {
      const operator = random.pick(['contains', 'not_contains', 'starts_with', 'ends_with']);
      return { column, operator, value: random.pick(random.chance(70) ? NEEDLES : WORDS) };
    }
    case 3: {
      const value = Array.from({ length: random.pick([1, 3, 40]) }, () => randomValue(random, column) ?? 1);
      return { column, operator: random.pick(['in', 'not_in']), value };
    }
    case 4: {
      const operator = random.pick(['before', 'after', 'on_or_before', 'on_or_after']);
      const dated = random.pick(['visited', 'visited', 'mixed', column]);
      return { column: dated, operator, value: random.pick(TIMES) };
    }
    default:
      return { column, operator: random.pick(['is_empty', 'is_not_empty']) };
  }
}
