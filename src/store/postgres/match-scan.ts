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
  size: number;
  last: Candidate | undefined;
  /** Every vector that was not read has at most this score. */
  bound: number;
  readonly excluded: Uint8Array[];
}

/** Records that a scan reads beyond those of the page. */
const SPARE = 16;
const MAX_FETCH = 20_000;
/** A vector that so many records of one fetch have is read from its index. */
const MANY = 8;

/** Finds the matches of a page in the order of their scores. */
export class MatchScan {
  readonly #context: SearchContext;
  readonly #prefetch: (ids: readonly number[]) => void;

  /** `prefetch` is called with records that are probably matches, before their exact scores are computed. */
  constructor(context: SearchContext, prefetch: (ids: readonly number[]) => void) {
    this.#context = context;
    this.#prefetch = prefetch;
  }

  /** The first matches after a cursor with a score of at least `threshold`, which is 1 or more. */
  async matches(threshold: number, cursor: MovedCursor | null, need: number): Promise<Match[]> {
    const { order, sources } = this.#context;
    const range = { threshold, cursor, need };
    const found = new Map<number, Match>();
    const scans = sources.map((source): SourceScan => {
      const size = Math.min(need + SPARE, MAX_FETCH);
      return { source, size, last: undefined, bound: Number.POSITIVE_INFINITY, excluded: [] };
    });
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
        this.#prefetch(rows.slice(0, need).map(({ id }) => id));
        await this.#addRows(found, scan, range, rows);
      }
    }
  }

  /** The first records whose score is 0, in the order of their identities. */
  async withoutScore(after: string | undefined, need: number): Promise<Match[]> {
    const { sources, order, scores, margin } = this.#context;
    const found: Match[] = [];
    for (const source of sources) {
      const matches = await this.#inOrder(need, after, async (last, size) => {
        const rows = await source.upTo(0.5 * STEP + margin, last, size);
        return { rows, matches: matchesOf(rows, await scores.of(rows), 0) };
      });
      found.push(...matches);
    }
    return found.sort((a, b) => order.compare(a, b)).slice(0, need);
  }

  /** Reads the next vectors of a source. */
  async #read(scan: SourceScan, { threshold, cursor }: Range): Promise<Candidate[]> {
    const { margin } = this.#context;
    const isLimited = cursor !== null && cursor.score !== MAX_STEPS;
    const maxScore = isLimited ? (cursor.score + 0.5) * STEP + margin : undefined;
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
