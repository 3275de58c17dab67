/** The values of a measurement. Their names contain the units. */
export interface Values {
  readonly p50_ms?: number;
  readonly p99_ms?: number;
  readonly mean_ms?: number;
  /** Median time of a scan, on one thread. */
  readonly scan_p50_ms?: number;
  /** Processor time of one search, all threads. */
  readonly cpu_p50_ms?: number;
  /** Processor time of a server for one search, all threads, mean. */
  readonly cpu_mean_ms?: number;
  /** Ratio of p50 to that of cosift in the same round, median over rounds: 8 means that cosift is eight times faster. */
  readonly times_ours?: number;
  /** Ratio of p50 to that of the same search without a filter. */
  readonly times_unfiltered?: number;
  /** Ratio of p50 to that of the first page. */
  readonly times_first_page?: number;
  /** Ratio of p50 to that of the usual case, in suite `cliffs`. */
  readonly times_usual?: number;
  /** Longest time from the abort of a request to its end. */
  readonly abort_ms?: number;
  /** The largest ratio of p50 to the usual case that is accepted. */
  readonly goal_times?: number;
  /** The largest p50 that is accepted. */
  readonly goal_p50_ms?: number;
  /** The largest p99 that is accepted. */
  readonly goal_p99_ms?: number;
  /** The largest mean that is accepted. */
  readonly goal_mean_ms?: number;
  /** The longest time to an abort that is accepted. */
  readonly goal_abort_ms?: number;
  /** Threads and open files of the process, more than before. */
  readonly threads?: number;
  readonly descriptors?: number;
  /** Ratio of the bytes on disk to those before. */
  readonly times_disk?: number;
  /** The most threads and open files, and the largest growth on disk, that are accepted. */
  readonly goal_threads?: number;
  readonly goal_descriptors?: number;
  readonly goal_times_disk?: number;
  /** Ratio to the time of the same request of pgvector alone, median over the queries. */
  readonly times_plain?: number;
  /** Ratio of the processor time to that of the same searches one after the other, median over rounds. */
  readonly times_single?: number;
  /** Ratio of p50 to that of the page alone. */
  readonly times_alone?: number;
  /** Ratio of the time of a scan to that without a lexical weight, median over the queries. */
  readonly times_scan?: number;
  /** The same of the whole search, which embeds its text. */
  readonly times_search?: number;
  /** Median number of matching records. */
  readonly matches?: number;
  /** Ratio of p50 to that of the engine alone. */
  readonly times_engine?: number;
  readonly per_second?: number;
  /** The fewest searches a second that are accepted. */
  readonly goal_per_second?: number;
  readonly recall?: number;
  readonly wrong?: number;
  readonly missing?: number;
  /** Correct records of 20 pages that are on none of them: a share in suite `peers`, a number elsewhere. */
  readonly lost?: number;
  readonly repeated?: number;
  readonly score_error?: number;
  readonly ns_a_record?: number;
  /** Shared by the queries of one scan. */
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

/** One row of the report: the values of one system in one cell of a suite. */
export interface Measurement {
  readonly suite: string;
  /** What was measured, such as the name of a filter. */
  readonly cell: string;
  readonly system: string;
  /** The source of real vectors; absent for synthetic ones. */
  readonly data?: string;
  readonly records?: number;
  readonly dimensions?: number;
  readonly clients?: number;
  readonly page?: number;
  /** Share of the records that pass the filter, 0..1. */
  readonly selectivity?: number;
  readonly values: Values;
}

/** A complete run, as `--json` writes it. */
export interface Run {
  readonly started: string;
  readonly seconds: number;
  readonly machine: Record<string, string>;
  readonly seed: number;
  readonly measurements: readonly Measurement[];
  /** Systems that could not be measured, with the reason. */
  readonly failures: readonly string[];
}

/** The identity of a row, to find the same row in another run. */
export function keyOf({ values: _, ...facts }: Measurement): string {
  return JSON.stringify(facts);
}
