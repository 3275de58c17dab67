import { unwrap } from '../local/unwrap.js';
import { restrictionSql } from './filter-sql.js';
import type { Match } from './match-order.js';
import { nativeRow } from './rows.js';
import { SAME_SCORE_STEPS, STEP } from './scores.js';
import type { SearchContext } from './search-context.js';
import { namedSql, Values } from './sql.js';
import { type SizedRow, sizedRow, wholeRows } from './whole-rows.js';

/** Records that are scored at a time. */
const SCORED_AT_ONCE = 500;
/** Similar records from which the least score of the page is estimated. */
const SAMPLE = 200;
/** More than the rounding of scores and weights. */
const SLACK = 1e-6;

interface Cursor {
  score: number;
  id: string;
}

/**
 * Finds the matches of a search with words or boosts, whose scores need the data and the times of a record. A score is at
 * most `weight * cosine + 1 - weight`, so records whose cosine is too low for the page are not read.
 */
export class BlendedMatches {
  readonly #context: SearchContext;
  readonly #weight: number;

  /** `weight` is that of the cosine. */
  constructor(context: SearchContext, weight: number) {
    this.#context = context;
    this.#weight = weight;
  }

  async all(threshold: number): Promise<Match[]> {
    return this.#sorted(await this.#from(threshold, threshold));
  }

  /** The first `need` results after a cursor. `all` are the matches that {@link all} returned. */
  pageOf<M extends Match>(
    all: readonly Match[],
    cursor: Cursor | null,
    need: number,
    results: readonly M[],
  ): M[] {
    if (cursor === null) return results.slice(0, need);
    const own = all.find((match) => this.#context.order.idOf(match) === cursor.id);
    const moved = movedTo(cursor, own?.score);
    return results.filter((match) => this.#context.order.isAfter(match, moved)).slice(0, need);
  }

  /** The first `need` matches after a cursor, in order. */
  async page(threshold: number, cursor: Cursor | null, need: number): Promise<Match[]> {
    const { order } = this.#context;
    const start = cursor && movedTo(cursor, await this.#scoreOf(cursor));
    const isOnPage = (match: Match) => start === null || order.isAfter(match, start);
    const sample = await this.#similar(start, need + SAMPLE);
    const least = this.#sorted(sample.filter((match) => match.score >= threshold && isOnPage(match)))[
      need - 1
    ];
    const matches = await this.#from(threshold, least?.score ?? threshold);
    return this.#sorted(matches.filter(isOnPage)).slice(0, need);
  }

  #sorted(matches: Match[]): Match[] {
    return matches.sort((a, b) => this.#context.order.compare(a, b));
  }

  /** The score of the cursor's record, if the record is a match. */
  async #scoreOf({ id }: Cursor): Promise<number | undefined> {
    const [match] = await this.#scored((values) => [this.#context.order.idSql('=', id, values)]);
    return match?.score;
  }

  /** Records whose vectors are the most similar ones, of those that can come after a cursor. */
  async #similar(start: Cursor | null, size: number): Promise<Match[]> {
    const { sources, margin } = this.#context;
    const weight = this.#weight;
    const maxScore =
      start === null || weight === 0 ? undefined : (start.score * STEP + SLACK) / weight + SLACK + margin;
    const ids = new Set<number>();
    for (const source of sources) {
      const found = await source.scan({ minScore: -2, maxScore, last: undefined, excluded: [], size });
      for (const { id } of found) ids.add(id);
    }
    return await this.#scored((values) => [namedSql([...ids], values)]);
  }

  /** The matches with a score of at least `least`, among others. */
  async #from(threshold: number, least: number): Promise<Match[]> {
    const { sources, margin } = this.#context;
    const weight = this.#weight;
    const cosine = weight === 0 ? 0 : (least * STEP - (1 - weight) - SLACK) / weight - SLACK;
    const matches: Match[] = [];
    const read = async (where: (values: Values) => string[]) => {
      for (let last = 0; ; ) {
        const after = (values: Values) => [...where(values), `id > ${values.bind(last)}::bigint`];
        const scored = await this.#scored(after, SCORED_AT_ONCE);
        matches.push(...scored.filter(({ score }) => score >= threshold));
        if (scored.length < SCORED_AT_ONCE) return;
        last = (scored.at(-1) as Match).id;
      }
    };
    if (cosine <= 0) {
      await read(() => []);
      return matches;
    }
    for (const source of sources) {
      if (!source.isOfPassages) await read((values) => [source.atLeastSql(cosine - margin, values)]);
      else {
        const found = await source.largest(cosine - margin);
        const ids = found.map(({ id }) => id);
        await read((values) => [namedSql(ids, values)]);
      }
    }
    return matches;
  }

  /** The records with a vector that meet the conditions, with their scores, in the order of their ids. */
  async #scored(where: (values: Values) => string[], limit?: number): Promise<Match[]> {
    const { sql, table, restriction, search, scores } = this.#context;
    const values = new Values();
    const conditions = [...restrictionSql(restriction, values), 'exact IS NOT NULL', ...where(values)];
    const rows = await sql.run<SizedRow>(
      `SELECT ${sizedRow(true)} FROM ${table} WHERE ${conditions.join(' AND ')}
      ORDER BY id ${limit === undefined ? '' : `LIMIT ${limit}`}`,
      values.list,
    );
    const matches: Match[] = [];
    for await (const part of wholeRows(sql, table, rows, true)) {
      const found = unwrap(await search.scores(part.map(nativeRow)));
      for (const [at, { id, uuid }] of part.entries()) matches.push({ id, uuid, score: found[at] as number });
    }
    scores.count += rows.length;
    return matches;
  }
}

/** A cursor at the score that its record has under this request, unless the record was changed. */
function movedTo(cursor: Cursor, score: number | undefined): Cursor {
  if (score === undefined || Math.abs(score - cursor.score) > SAME_SCORE_STEPS) return cursor;
  return { ...cursor, score };
}
