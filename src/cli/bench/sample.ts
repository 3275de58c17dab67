import type { Database } from '../../api/index.js';
import type { DatabaseDescription } from '../../schema/index.js';
import { type ExportedRecord, recordsOf } from '../export/records.js';
import type { Random } from './random.js';

/** More records than this are neither sampled from nor compared, so that a bench of a large database begins soon. */
export const MAX_RECORDS_READ = 100_000;

const SAMPLED = 200;
const MAX_QUERY_LENGTH = 80;
const MAX_QUERY_WORDS = 8;

export type Query = { text: string } | { vector: number[] };

/** Returns records that are chosen at random among the first {@link MAX_RECORDS_READ}. */
export async function sampleOf(
  database: Database,
  { vectors, random, signal }: { vectors: boolean; random: Random; signal: AbortSignal },
): Promise<ExportedRecord[]> {
  const sample: ExportedRecord[] = [];
  let read = 0;
  for await (const records of recordsOf(database.exportLines({ vectors, signal }))) {
    for (const record of records) {
      // Reservoir sampling: each record read so far is in the sample with the same probability.
      const at = read < SAMPLED ? read : random.below(read + 1);
      if (at < SAMPLED) sample[at] = record;
      read += 1;
    }
    if (read >= MAX_RECORDS_READ) break;
  }
  return sample;
}

/** Makes a query of each sampled record that has a text or a vector. */
export function queriesOf(
  sample: readonly ExportedRecord[],
  { model, embed }: Pick<DatabaseDescription, 'model' | 'embed'>,
  random: Random,
): Query[] {
  return sample.flatMap(({ data, vector }): Query[] => {
    if (model === null) return vector === undefined ? [] : [{ vector }];
    const columns = embed.columns ?? Object.keys(data);
    const text = columns
      .flatMap((column) => data[column] ?? [])
      .filter((value) => typeof value === 'string')
      .reduce((longest, value) => (value.length > longest.length ? value : longest), '');
    const query = partOf(text, random);
    return query === '' ? [] : [{ text: query }];
  });
}

/** Returns a few successive words of a text. */
function partOf(text: string, random: Random): string {
  const words = text.split(/\s+/).filter((word) => word !== '');
  const begin = random.below(Math.max(1, words.length - MAX_QUERY_WORDS + 1));
  const part = words.slice(begin, begin + MAX_QUERY_WORDS).join(' ');
  // Not every script has spaces. A surrogate pair is not cut.
  return Array.from(part).slice(0, MAX_QUERY_LENGTH).join('');
}
