import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { CosiftError, isCode } from '../../errors.js';
import { packageVersion } from '../../platform/package.js';
import type { DatabaseDescription } from '../../schema/index.js';
import { abortOnSignal, endStopped } from '../abort-on-signal.js';
import { printable, shownJson } from '../failure.js';
import { note, writeLines } from '../output.js';
import { plural } from '../progress-bar.js';
import { withDatabase } from '../records/near-names.js';
import type { TargetOptions } from '../target.js';
import { type BenchTarget, openBenchTarget } from './bench-target.js';
import { type CheckResult, check, type Differences } from './check.js';
import { type BenchFilter, filterOf } from './filter.js';
import {
  dropGenerated,
  importGenerated,
  makeTemporaryDirectory,
  newGeneratedId,
} from './generated-database.js';
import { generatedText } from './generated-records.js';
import { describeMachine } from './machine.js';
import { measure } from './measure.js';
import { Random } from './random.js';
import { printed, type Report } from './report.js';
import { type Query, queriesOf, sampleOf } from './sample.js';

const GENERATED_RECORDS = 5_000;
/** Number of queries when the key may not read records. */
const GENERATED_QUERIES = 200;

export async function bench(options: BenchOptions): Promise<void> {
  const generated = options.database === undefined;
  if (generated && options.url !== undefined) {
    throw new Error('--url: give --database too; generated records are measured without a server');
  }
  if (!generated && options.records !== undefined) {
    throw new Error('--records: a database is only read; leave out --database to measure generated records');
  }
  const signal = abortOnSignal();
  const opened = generated ? { ...options, data: makeTemporaryDirectory() } : options;
  const target = await openBenchTarget(opened, { create: generated });
  const id = options.database ?? newGeneratedId();
  try {
    const report = await new Bench(target, opened, id, signal).run();
    if (report === undefined) return;
    await writeLines([options.json ? shownJson(report, 2) : printed(report)]);
  } catch (error) {
    endStopped(signal, error, 'nothing was measured');
  } finally {
    try {
      if (generated) await dropGenerated(target.databases, id);
    } finally {
      await target.databases.close();
    }
  }
}

/** What is searched for, and where. */
interface Workload {
  /** Absent when the key may not read records. */
  description?: DatabaseDescription;
  queries: Query[];
  from: string;
  filter: BenchFilter | undefined;
}

/** One run of the command. */
class Bench {
  readonly #target: BenchTarget;
  readonly #options: BenchOptions;
  readonly #signal: AbortSignal;
  readonly #random: Random;
  readonly #id: string;

  constructor(target: BenchTarget, options: BenchOptions, id: string, signal: AbortSignal) {
    this.#target = target;
    this.#options = options;
    this.#signal = signal;
    this.#random = new Random(options.seed);
    this.#id = id;
  }

  /** Returns the report; undefined when results are wrong, which was printed. */
  async run(): Promise<Report | undefined> {
    const { database, url, records = GENERATED_RECORDS, duration, seed } = this.#options;
    const { concurrency = availableParallelism() } = this.#options;
    const signal = this.#signal;
    let imported: Report['import'];
    if (database === undefined) {
      note(`importing ${plural(records, 'generated record')}`);
      imported = await importGenerated(this.#target.databases, this.#id, { records, seed, signal });
    }
    const workload = await this.#workload();
    const { description, queries, from, filter } = workload;
    note('comparing results with brute force');
    const checked = await this.#check(workload);
    if ('different' in checked) {
      note(printable(`cosift: wrong results, so nothing was measured: ${checked.different.join('; ')}`));
      process.exitCode = 1;
      return undefined;
    }
    note('measuring');
    const embedding = await this.#measureEmbedding(queries);
    const searches: Report['searches'] = [];
    for (const used of filter === undefined ? [undefined] : [undefined, filter]) {
      const ask = (turn: number) => this.#ask(queries[turn % queries.length] as Query, used);
      // After this, all vectors of texts are in the cache.
      for (const turn of queries.keys()) await ask(turn);
      const { embedding_ms: _, ...figures } = await measure(ask, { concurrency, seconds: duration, signal });
      searches.push({ filter: used?.rule ?? null, ...(used && { share: used.share }), ...figures });
    }
    return {
      cosift: packageVersion(),
      machine: describeMachine(),
      url: url ?? null,
      database: database ?? null,
      records: description?.records ?? null,
      dimensions: description?.dimensions ?? null,
      model: description?.model ?? null,
      seed,
      concurrency,
      duration_s: duration,
      queries: { count: queries.length, from },
      check: checked,
      ...(imported && { import: imported }),
      ...(embedding !== undefined && { embedding_ms: embedding }),
      searches,
    };
  }

  async #workload(): Promise<Workload> {
    const { databases } = this.#target;
    const database = databases.database(this.#id);
    const random = this.#random;
    let description: DatabaseDescription;
    try {
      description = await withDatabase(databases, this.#id, () =>
        database.describe({ signal: this.#signal }),
      );
    } catch (error) {
      if (!isCode(error, 'forbidden')) throw error;
      const queries = Array.from({ length: GENERATED_QUERIES }, () => ({ text: generatedText(random) }));
      return { queries, from: 'generated texts', filter: undefined };
    }
    const vectors = description.model === null;
    const sample = await sampleOf(database, { vectors, random, signal: this.#signal });
    const queries = queriesOf(sample, description, random);
    if (queries.length === 0) {
      const reason = `no record of "${this.#id}" has a ${vectors ? 'vector' : 'text'}`;
      throw new CosiftError('invalid_request', `${reason} to make a query of: import records first`);
    }
    const from = `${vectors ? 'vectors' : 'parts of texts'} of sampled records, because your queries are not known`;
    return { description, queries, from, filter: filterOf(sample) };
  }

  async #check({ description, queries, filter }: Workload): Promise<CheckResult | Differences> {
    if (description === undefined) return { skipped: 'the key may not read records' };
    const ask = (query: Query, used: BenchFilter | undefined) => this.#ask(query, used);
    return check({ target: this.#target, description, queries, filter, ask }, this.#options, this.#signal);
  }

  /** Searches for texts that differ from all earlier ones, so that each is embedded. */
  async #measureEmbedding(queries: readonly Query[]): Promise<Report['embedding_ms']> {
    const texts = queries.flatMap((query) => ('text' in query ? [query.text] : []));
    if (texts.length === 0) return undefined;
    const run = randomUUID().slice(0, 8);
    const ask = (turn: number) =>
      this.#ask({ text: `${texts[turn % texts.length]} ${run}${turn}` }, undefined);
    const { duration: seconds } = this.#options;
    return (await measure(ask, { concurrency: 1, seconds, signal: this.#signal })).embedding_ms;
  }

  #ask(search: Query, filter: BenchFilter | undefined) {
    const group = filter && { rules: [filter.rule] };
    return this.#target.search(this.#id, search, group, this.#signal);
  }
}

export interface BenchOptions extends TargetOptions {
  database?: string;
  /** Number of generated records; undefined unless the user gave it. */
  records?: number;
  /** Undefined: one search per core. */
  concurrency?: number;
  duration: number;
  seed: number;
  json?: true;
}
