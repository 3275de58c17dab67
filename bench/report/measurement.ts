/** What a value counts; each name carries its unit. */
export interface Values {
  readonly p50_ms?: number;
  readonly p99_ms?: number;
  /** Processor time of one search, all threads. */
  readonly cpu_p50_ms?: number;
  /** p50 over ours in the same round, median over rounds: 8 means that ours is eight times faster. */
  readonly times_ours?: number;
  /** p50 over that of the same search without a filter. */
  readonly times_unfiltered?: number;
  /** p50 over that of the first page. */
  readonly times_first_page?: number;
  /** p50 over that of the page alone. */
  readonly times_alone?: number;
  /** Records that match, at the median. */
  readonly matches?: number;
  /** p50 over that of the engine inside. */
  readonly times_engine?: number;
  readonly per_second?: number;
  readonly recall?: number;
  readonly wrong?: number;
  readonly missing?: number;
  /** Of the true records of 20 pages, those on none: a share in suite peers, a number elsewhere. */
  readonly lost?: number;
  readonly repeated?: number;
  readonly score_error?: number;
  readonly ns_a_record?: number;
  /** Shared by the queries of a pass. */
  readonly ns_a_record_and_query?: number;
  readonly times_plain_read?: number;
  readonly ns_a_run?: number;
  readonly load_s?: number;
  readonly open_ms?: number;
  readonly first_answer_ms?: number;
  readonly memory_mb?: number;
  readonly memory_bytes_a_record?: number;
  readonly disk_bytes_a_record?: number;
}

/** One row of the report: a system in a cell of a suite. */
export interface Measurement {
  readonly suite: string;
  /** What was done, such as a filter's name. */
  readonly cell: string;
  readonly system: string;
  /** Real vectors, where they are not made from the seed. */
  readonly data?: string;
  readonly records?: number;
  readonly dimensions?: number;
  readonly clients?: number;
  readonly page?: number;
  /** Share of the records that the filter keeps, 0..1. */
  readonly selectivity?: number;
  readonly values: Values;
}

/** A whole run, as `--json` writes it. */
export interface Run {
  readonly started: string;
  readonly seconds: number;
  readonly machine: Record<string, string>;
  readonly seed: number;
  readonly measurements: readonly Measurement[];
  /** Systems that could not be measured, and why. */
  readonly failures: readonly string[];
}

/** The name of a row apart from its values, to find it again in another run. */
export function keyOf({ values: _, ...facts }: Measurement): string {
  return JSON.stringify(facts);
}
