import { availableParallelism } from 'node:os';
import { Bench } from 'tinybench';
import { createEmbedder } from '../../src/embedding/index.js';
import type { Values } from '../report/measurement.js';
import type { Suite } from './session.js';

const WORDS =
  'the quick record of every small machine that people build to read write and find old maps in a large quiet library'.split(
    ' ',
  );

/** The built-in model: single queries, cached queries, and record texts with all workers. */
export const EMBEDDER: Suite = {
  name: 'embedder',
  about: 'the built-in model: a query, a query from the cache, passages of 10 and of 60 words',
  async run(session) {
    session.say('embedder');
    const workers = availableParallelism();
    const embedder = await createEmbedder({ workers });
    // Every text is new, so that none is in the cache.
    let n = 0;
    const word = (i: number) => WORDS[(n * 7 + i * 5 + ((n >> 3) % 11)) % WORDS.length];
    const text = (words: number) => `${Array.from({ length: words }, (_, i) => word(i)).join(' ')} ${n++}`;
    const bench = new Bench({ time: 2_000, iterations: 5, warmupTime: 300, warmupIterations: 2 });
    const batch = 64;
    bench
      .add('query of 6 words', () => embedder.embedQuery(text(6)))
      .add('query from the cache', () => embedder.embedQuery('a query that comes again'))
      .add('passages of 10 words', () =>
        embedder.embedPassages(Array.from({ length: batch }, () => text(10))),
      )
      .add('passages of 60 words', () =>
        embedder.embedPassages(Array.from({ length: batch }, () => text(60))),
      );
    await bench.run();
    for (const { name, result } of bench.tasks) {
      if (!('latency' in result)) throw new Error(`${name} did not finish`);
      const { p50, p99 } = result.latency;
      const values: Values = name.startsWith('passages')
        ? { per_second: (batch * 1_000) / p50 }
        : { p50_ms: p50, p99_ms: p99 };
      session.measurements.push({
        suite: 'embedder',
        cell: `${name}, ${workers} workers`,
        system: 'cosift',
        dimensions: embedder.dimensions,
        values,
      });
    }
    await embedder.close();
  },
};
