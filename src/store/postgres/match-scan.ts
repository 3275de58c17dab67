import type { Match } from './match-order.js';
import { leastCosine, MAX_STEPS, publishedSteps, STEP } from './scores.js';
import type { SearchContext } from './search-context.js';
import type { Candidate, VectorSource } from './vector-source.js';

/** A cursor, and the direction of its record if the record is still at its place and has one vector. */
export interface MovedCursor {
  score: number;
  id: string;
  direction?: Uint8Array;
}

interface ScanOptions {
  /** Whether a few matches may be missing. */
  isApproximate: boolean;
  /** Called with records that are probably matches, before their exact scores are computed. */
  prefetch: (ids: readonly number[]) => void;
}

/** Which matches are looked for. */
interface Range {
  threshold: number;
  cursor: MovedCursor | null;
  /** Matches to find at most. */
  need: number;
}

/** How far a source was scanned. */
interface SourceScan {
  readonly source: VectorSource;
  /** Whether vectors are read from an HNSW index: those that it finds, from the first one each time. */
  isIndexed: boolean;
  /** Vectors that were read from the index. */
  candidates: number;
  /** Why all vectors of the source are scanned. */
  indexNotUsed?: string;
  size: number;
  last: Candidate | undefined;
  /** Every vector that was not read has at most this score, except those that an index misses. */
  bound: number;
  readonly excluded: Uint8Array[];
}

/** How a search used HNSW indexes. */
interface IndexUse {
  /** Candidates of the indexes. */
  candidates?: number;
  /** Why no index was used. */
  indexNotUsed?: string;
}

/** Why all vectors of a source are scanned. */
const NO_INDEX = 'the table has no HNSW index';
const TOO_FEW = 'the index finds too few records: all of them were scanned';
const LOWEST = 'the page has only scores of 0: all records were scanned';
/** Records that a scan reads beyond those of the page. */
const SPARE = 16;
const MAX_FETCH = 20_000;
/** Vectors that are read from an HNSW index at a time, at most. */
const MAX_INDEXED = 4_000;
/** A vector that so many records of one fetch have is read from its index. */
const MANY = 8;

/** Finds the matches of a page in the order of their scores. */
export class MatchScan {
  readonly #context: SearchContext;
  readonly #options: ScanOptions;
  #scans: readonly SourceScan[] = [];
  #isOfLowest = false;

  constructor(context: SearchContext, options: ScanOptions) {
    this.#context = context;
    this.#options = options;
  }

  /** How indexes were used; empty for a search that must be exact. */
  indexUse(): IndexUse {
    if (!this.#options.isApproximate) return {};
    const indexed = this.#scans.filter(({ isIndexed }) => isIndexed);
    // Matches may be missing as soon as one of the sources is read from its index.
    if (indexed.length > 0) return { candidates: sum(indexed.map(({ candidates }) => candidates)) };
    const reasons = this.#scans.flatMap(({ indexNotUsed }) => indexNotUsed ?? []);
    const ofLowest = this.#isOfLowest ? LOWEST : undefined;
    return {
      indexNotUsed:
        reasons.find((reason) => reason === TOO_FEW) ?? reasons[0] ?? ofLowest ?? 'nothing was scanned',
    };
  }

  /** The first matches after a cursor with a score of at least `threshold`, which is 1 or more. */
  async matches(threshold: number, cursor: MovedCursor | null, need: number): Promise<Match[]> {
    const { order } = this.#context;
    const range = { threshold, cursor, need };
    const found = new Map<number, Match>();
    const scans = await this.#begin(need);
    const [first] = scans as [SourceScan];
    // The records at the place of the cursor need not be scanned.
    if (cursor?.direction !== undefined) {
      await this.#addAll(found, first, range, cursor.direction, cursor.score);
    }
    for (;;) {
      const matches = [...found.values()].sort((a, b) => order.compare(a, b));
      const last = matches[need - 1];
      // The page is complete when no vector that was not read can be on it.
      const open = scans.filter(
        ({ bound }) => bound >= threshold && (last === undefined || bound >= last.score),
      );
      if (open.length === 0) return matches.slice(0, need);
      for (const scan of open) {
        const rows = await this.#read(scan, range);
        this.#options.prefetch(rows.slice(0, need).map(({ id }) => id));
        await this.#addRows(found, scan, range, rows);
      }
    }
  }

  /** The first records whose score is 0, in the order of their identities. */
  async withoutScore(after: string | undefined, need: number): Promise<Match[]> {
    const { sources, order, scores, margin } = this.#context;
    const found: Match[] = [];
    this.#isOfLowest = true;
    for (const source of sources) {
      const matches = await this.#inOrder(need, after, async (last, size) => {
        const rows = await source.upTo(0.5 * STEP + margin, last, size);
        return { rows, matches: matchesOf(rows, await scores.of(rows), 0) };
      });
      found.push(...matches);
    }
    return found.sort((a, b) => order.compare(a, b)).slice(0, need);
  }

  async #begin(need: number): Promise<SourceScan[]> {
    const scans: SourceScan[] = [];
    for (const source of this.#context.sources) {
      const isIndexed = this.#options.isApproximate && (await source.prepareIndex(indexedSize(need)));
      const size = isIndexed ? indexedSize(need) : Math.min(need + SPARE, MAX_FETCH);
      scans.push({
        ...{ source, isIndexed, candidates: 0, size, excluded: [] },
        ...{ last: undefined, bound: Number.POSITIVE_INFINITY },
        ...(!isIndexed && { indexNotUsed: NO_INDEX }),
      });
    }
    this.#scans = scans;
    return scans;
  }

  /** Reads the next vectors of a source. */
  async #read(scan: SourceScan, { threshold, cursor, need }: Range): Promise<Candidate[]> {
    const { margin } = this.#context;
    const isLimited = cursor !== null && cursor.score !== MAX_STEPS;
    const maxScore = isLimited ? (cursor.score + 0.5) * STEP + margin : undefined;
    if (scan.isIndexed) {
      const rows = scan.size > MAX_INDEXED ? [] : await scan.source.nearest({ maxScore, ...scan });
      if (rows.length === scan.size) {
        scan.candidates += rows.length;
        scan.bound = this.#boundAfter(Math.min(...rows.map(({ s }) => s)));
        scan.size *= 4;
        return rows;
      }
      // Few records pass the filter, the page is far behind the first one, or many scores are nearly equal.
      const size = Math.min(need + SPARE, MAX_FETCH);
      Object.assign(scan, { isIndexed: false, indexNotUsed: TOO_FEW, size });
    }
    const minScore = leastCosine(threshold) - margin;
    const rows = await scan.source.scan({ minScore, maxScore, ...scan });
    scan.last = rows.at(-1);
    const isEnd = rows.length < scan.size || scan.last === undefined;
    scan.bound = isEnd ? -1 : this.#boundAfter((scan.last as Candidate).s);
    scan.size = Math.min(scan.size * 8, MAX_FETCH);
    return rows;
  }

  /** The largest score of vectors whose score in single precision is at most `s`. */
  #boundAfter(s: number): number {
    return publishedSteps(s + this.#context.margin) + 1;
  }

  async #addRows(
    found: Map<number, Match>,
    scan: SourceScan,
    range: Range,
    rows: readonly Candidate[],
  ): Promise<void> {
    const { scores } = this.#context;
    const exact = await scores.of(rows);
    const many = frequent(rows);
    for (const [at, { id, uuid, key }] of rows.entries()) {
      if (!many.has(key)) this.#add(found, range, { id, uuid, score: exact[at] as number });
    }
    for (const at of many.values()) {
      const row = rows[at] as Candidate;
      await this.#addAll(found, scan, range, row.direction, scores.ofVector(row));
    }
  }

  /** Adds the first records with a vector of a direction. */
  async #addAll(
    found: Map<number, Match>,
    { source, excluded }: SourceScan,
    range: Range,
    direction: Uint8Array,
    score: number,
  ): Promise<void> {
    const { threshold, cursor, need } = range;
    excluded.push(direction);
    if (score < threshold || (cursor !== null && score > cursor.score)) return;
    const after = cursor !== null && score === cursor.score ? cursor.id : undefined;
    for (const match of await this.#ties(source, direction, score, after, need)) {
      this.#add(found, range, match);
    }
  }

  #add(found: Map<number, Match>, { threshold, cursor }: Range, match: Match): void {
    const { order } = this.#context;
    if (match.score < threshold || (cursor !== null && !order.isAfter(match, cursor))) return;
    found.set(match.id, match);
  }

  /** The first records whose score is that of a vector which they have in common, in the order of their identities. */
  async #ties(
    source: VectorSource,
    direction: Uint8Array,
    score: number,
    after: string | undefined,
    need: number,
  ): Promise<Match[]> {
    return await this.#inOrder(need, after, async (last, size) => {
      const rows = await source.ofDirection(direction, last, size);
      // A record with several vectors may have a better one.
      const scores = source.isOfPassages ? await this.#context.scores.of(rows) : rows.map(() => score);
      return { rows, matches: matchesOf(rows, scores, score) };
    });
  }

  /** Reads records in the order of their identities until there are enough matches. */
  async #inOrder(
    need: number,
    after: string | undefined,
    read: (after: string | undefined, size: number) => Promise<{ rows: Candidate[]; matches: Match[] }>,
  ): Promise<Match[]> {
    const found = new Map<number, Match>();
    for (let last = after; found.size < need; ) {
      const size = Math.min(need - found.size + SPARE, MAX_FETCH);
      const { rows, matches } = await read(last, size);
      for (const match of matches) found.set(match.id, match);
      if (rows.length < size) break;
      last = this.#context.order.idOf(rows.at(-1) as Candidate);
    }
    return [...found.values()].slice(0, need);
  }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

/** Vectors that are read from an index at first: more than those of the page, because it misses some. */
function indexedSize(need: number): number {
  return Math.min(2 * need + SPARE, MAX_INDEXED);
}

function matchesOf(rows: readonly Candidate[], scores: readonly number[], score: number): Match[] {
  return rows.flatMap(({ id, uuid }, at) => (scores[at] === score ? { id, uuid, score } : []));
}

/** The vectors that many rows have, with the place of one of the rows. */
function frequent(rows: readonly Candidate[]): Map<string, number> {
  const counts = new Map<string, number>();
  const many = new Map<string, number>();
  for (const [at, { key }] of rows.entries()) {
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    if (count === MANY) many.set(key, at);
  }
  return many;
}
