import { isEndpoint, isLoopback } from '../../config/index.js';
import { createEmbedder } from '../../databases/index.js';
import type { DatabaseDescription } from '../../schema/index.js';
import { count } from '../../schema/plain.js';
import { recordsOf } from '../export/records.js';
import { modelSourcesOf } from '../model/known-model.js';
import type { TargetOptions } from '../target.js';
import { type BenchTarget, SCORES, type SearchResult } from './bench-target.js';
import { BruteForce, type Hit, stepsOf } from './brute-force.js';
import type { BenchFilter } from './filter.js';
import { MAX_RECORDS_READ, type Query } from './sample.js';

/** Number of queries that are compared, each without and with the filter. */
const CHECKED_QUERIES = 8;

/** How many searches were compared with brute force over how many records, or why none was. */
export type CheckResult = { searches: number; records: number } | { skipped: string };

/** What is wrong with each page that differs from brute force. */
export interface Differences {
  different: readonly string[];
}

interface Workload {
  target: BenchTarget;
  description: DatabaseDescription;
  queries: readonly Query[];
  filter: BenchFilter | undefined;
  ask(query: Query, filter: BenchFilter | undefined): Promise<SearchResult>;
}

/** Compares pages with brute force over an export: ids, scores and order must be equal. */
export async function check(
  workload: Workload,
  options: TargetOptions,
  signal: AbortSignal,
): Promise<CheckResult | Differences> {
  const { target, description, filter, ask } = workload;
  if (description.records > MAX_RECORDS_READ) {
    return { skipped: `the database has more than ${count(MAX_RECORDS_READ)} records` };
  }
  const queries = workload.queries.slice(0, CHECKED_QUERIES);
  const vectors = await vectorsOf(queries, description, options);
  if ('skipped' in vectors) return vectors;
  const database = target.databases.database(description.id);
  const cases = queries.flatMap((query, at) =>
    [undefined, ...(filter === undefined ? [] : [filter])].map((filter) => ({
      query,
      filter,
      expected: new BruteForce(vectors.vectors[at] ?? [], SCORES),
    })),
  );
  let records = 0;
  for await (const lines of recordsOf(database.exportLines({ vectors: true, signal }))) {
    for (const { id, data, vector } of lines) {
      records += 1;
      // A record without text has no vector, and no search finds it.
      if (vector === undefined) continue;
      const steps = stepsOf(vector);
      for (const { filter, expected } of cases) {
        if (filter?.satisfies(data) ?? true) expected.add(id, steps);
      }
    }
  }
  const different: string[] = [];
  for (const { query, filter, expected } of cases) {
    const { results } = await ask(query, filter);
    const difference = firstDifference(expected.page(), results);
    if (difference !== undefined)
      different.push(`${JSON.stringify({ ...query, ...filter?.rule })}: ${difference}`);
  }
  const { times } = await database.describe({ signal });
  if (times.last_write_at !== description.times.last_write_at) {
    return { skipped: 'records were written meanwhile' };
  }
  return different.length > 0 ? { different } : { searches: cases.length, records };
}

function firstDifference(expected: readonly Hit[], results: SearchResult['results']): string | undefined {
  for (let rank = 0; rank < Math.max(expected.length, results.length); rank++) {
    const right = shown(expected[rank]?.id, (expected[rank]?.score ?? 0) / 1e9);
    const given = shown(results[rank]?.id, results[rank]?.relevance_score);
    if (right !== given) return `result ${rank + 1} is ${given} instead of ${right}`;
  }
  return undefined;
}

function shown(id: number | undefined, score: number | undefined): string {
  return id === undefined ? 'missing' : `record ${id} with score ${score}`;
}

/** Returns the vectors of queries. A text is embedded here, with the same model. */
async function vectorsOf(
  queries: readonly Query[],
  { model, fingerprint }: DatabaseDescription,
  options: TargetOptions,
): Promise<{ vectors: ArrayLike<number>[] } | { skipped: string }> {
  if (model === null)
    return { vectors: queries.flatMap((query) => ('vector' in query ? [query.vector] : [])) };
  if (options.url !== undefined && !isLoopback(new URL(options.url).hostname)) {
    return { skipped: 'the processor of the server may embed texts with other last digits than this one' };
  }
  const source = modelSourcesOf(options)[model];
  if (source === undefined) return { skipped: `model "${model}" is not on this machine` };
  if (isEndpoint(source))
    return { skipped: 'an endpoint may make another vector of the same text each time' };
  const embedder = await createEmbedder({ model: source, workers: 1 });
  try {
    if (embedder.fingerprint !== fingerprint) {
      return { skipped: `the server has other files of model "${model}" than this machine` };
    }
    const texts = queries.flatMap((query) => ('text' in query ? [query.text] : []));
    return { vectors: await Promise.all(texts.map((text) => embedder.embedQuery(text))) };
  } finally {
    await embedder.close();
  }
}
