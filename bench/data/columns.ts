import { Random } from './random.js';

/** The five columns of the records as flat arrays. Index i belongs to the record with id i + 1. */
export interface Columns {
  readonly category: Uint8Array;
  readonly price: Float64Array;
  readonly flag: Uint8Array;
  readonly title: string[];
  /** Milliseconds since 1970, UTC. */
  readonly synced: Float64Array;
}

/** The values of one record under the names that filters use. */
export interface Data {
  readonly category: string;
  readonly price: number;
  readonly flag: boolean;
  readonly title: string;
}

/** Names of the categories, most frequent first: the sizes fall from 7.25 % to 2.75 % of the records. */
export const CATEGORIES = [
  'tools',
  'books',
  'garden',
  'kitchen',
  'audio',
  'games',
  'office',
  'travel',
  'sports',
  'health',
  'beauty',
  'toys',
  'pets',
  'music',
  'video',
  'lights',
  'bikes',
  'shoes',
  'watches',
  'optics',
] as const;

/** Sync times are spread over 1,000 days from this time. */
export const FIRST_SYNC_MS = Date.UTC(2023, 0, 1);
/** Length of that period. */
export const SYNC_SPAN_MS = 1_000 * 86_400_000;

const ADJECTIVES = [
  'amber',
  'brisk',
  'classic',
  'durable',
  'elegant',
  'folding',
  'grand',
  'hollow',
  'indigo',
  'jade',
  'keen',
  'light',
  'modern',
  'narrow',
  'olive',
  'portable',
  'quiet',
  'rugged',
  'silver',
  'travel',
];
const NOUNS = [
  'anchor',
  'basket',
  'compass',
  'drill',
  'easel',
  'filter',
  'grinder',
  'hammer',
  'inkwell',
  'jacket',
  'kettle',
  'lantern',
  'mirror',
  'notebook',
  'oven',
  'pencil',
  'quilt',
  'radio',
  'saddle',
  'teapot',
  'umbrella',
  'vase',
  'wagon',
  'xylophone',
  'yarn',
];
const ENDS = [
  'for the small workshop',
  'with two handles',
  'in a gift box',
  'made of solid oak',
  'for rainy days',
  'with spare parts',
  'second edition',
  'for left-handed people',
  'in matte black',
  'with carrying case',
];

/**
 * Makes the columns of `records` records. The result depends only on the seed, and a larger number only adds records.
 *
 * price is uniform in 0.00..999.99, flag is true for 70 %, title has 30..70 characters, synced is uniform in its period.
 */
export function makeColumns(records: number, seed: number): Columns {
  const random = new Random(seed ^ 0x636f6c73);
  const pick = (from: readonly string[]): string => from[random.below(from.length)] as string;
  const columns: Columns = {
    category: new Uint8Array(records),
    price: new Float64Array(records),
    flag: new Uint8Array(records),
    title: [],
    synced: new Float64Array(records),
  };
  for (let i = 0; i < records; i++) {
    columns.category[i] = drawCategory(random.unit());
    columns.price[i] = random.below(100_000) / 100;
    columns.flag[i] = random.unit() < 0.7 ? 1 : 0;
    columns.title.push(`${pick(ADJECTIVES)} ${pick(NOUNS)} ${pick(ENDS)} no ${random.below(1_000_000)}`);
    columns.synced[i] = FIRST_SYNC_MS + Math.floor(random.unit() * SYNC_SPAN_MS);
  }
  return columns;
}

/** The data of record `i`. */
export function dataOf(columns: Columns, i: number): Data {
  return {
    category: CATEGORIES[columns.category[i] as number] as string,
    price: columns.price[i] as number,
    flag: columns.flag[i] === 1,
    title: columns.title[i] as string,
  };
}

function drawCategory(u: number): number {
  // Inverse of the distribution whose density falls linearly from 1.475 to 0.525 of the mean.
  const position = (1.475 - Math.sqrt(1.475 ** 2 - 1.9 * u)) / 0.95;
  return Math.min(CATEGORIES.length - 1, Math.floor(position * CATEGORIES.length));
}
