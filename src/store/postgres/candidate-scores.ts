import { CosiftError } from '../../errors.js';
import type { NativeSearch } from '../local/binding.js';
import { unwrap } from '../local/unwrap.js';
import { type RowVectors, VECTORS } from './rows.js';
import { isWithin } from './scores.js';
import { arrayOf, type Sql } from './sql.js';
import type { Candidate } from './vector-source.js';

/** The exact scores of the vectors that a search found, each computed once. */
export class CandidateScores {
  /** Vectors that were scored. */
  count = 0;
  readonly #sql: Sql;
  readonly #records: string;
  readonly #search: NativeSearch;
  /** What a score in single precision may differ from the exact one. */
  readonly #largestError: number;
  /** By direction. */
  readonly #ofVectors = new Map<string, number>();
  /** Those of all vectors of a record, by its id. */
  readonly #ofRecords = new Map<number, readonly number[]>();

  /** `records` is the table of the records. */
  constructor(sql: Sql, records: string, search: NativeSearch, largestError: number) {
    this.#sql = sql;
    this.#records = records;
    this.#search = search;
    this.#largestError = largestError;
  }

  /**
   * The scores of the records of candidates. The score of a record with several vectors is that of its best one, also
   * when that one was not found.
   *
   * @throws {CosiftError} `damaged` when a score in single precision is outside of the margin: then the two forms of a
   * vector differ, and a page could be incomplete.
   */
  async of(rows: readonly Candidate[]): Promise<number[]> {
    await this.#compute(rows);
    this.count += rows.length;
    const wrong = rows.find((row) => !isWithin(this.#largestError, row.s, this.ofVector(row)));
    if (wrong !== undefined) {
      throw new CosiftError('damaged', `a vector of record ${wrong.id} differs from its exact vector`);
    }
    return rows.map((row) => this.#ofRecord(row));
  }

  /** The score of a vector of which {@link of} was called. */
  ofVector({ id, number, key }: Candidate): number {
    if (number === undefined) return this.#ofVectors.get(key) as number;
    return this.#ofRecords.get(id)?.[number] as number;
  }

  /** The score of a stored record; undefined for one without a vector. */
  ofStored({ exact, passages }: RowVectors): number | undefined {
    if (!exact) return undefined;
    this.count += 1;
    const [cosines] = unwrap(
      this.#search.passageCosines([{ vector: exact, ...(passages && { passages }) }]),
    ) as [number[]];
    return Math.max(...cosines);
  }

  /** The scores of records with a vector or several. */
  async ofIds(ids: readonly number[]): Promise<number[]> {
    await this.#computeRecords(ids);
    return ids.map((id) => Math.max(...(this.#ofRecords.get(id) as readonly number[])));
  }

  #ofRecord(row: Candidate): number {
    if (row.number === undefined) return this.ofVector(row);
    return Math.max(...(this.#ofRecords.get(row.id) as readonly number[]));
  }

  async #compute(rows: readonly Candidate[]): Promise<void> {
    const unknown = new Map<string, Uint8Array>();
    for (const { key, exact } of rows) {
      if (exact === undefined) continue;
      if (!this.#ofVectors.has(key)) unknown.set(key, exact);
    }
    const scores = unwrap(this.#search.cosines([...unknown.values()]));
    [...unknown.keys()].forEach((key, at) => {
      this.#ofVectors.set(key, scores[at] as number);
    });
    await this.#computeRecords(rows.flatMap(({ id, number }) => (number === undefined ? [] : id)));
  }

  async #computeRecords(ids: readonly number[]): Promise<void> {
    const unknown = [...new Set(ids)].filter((id) => !this.#ofRecords.has(id));
    for (let at = 0; at < unknown.length; at += READ_AT_ONCE) {
      const rows = await this.#sql.run<{ id: number; exact: Uint8Array; passages: Uint8Array | null }>(
        `SELECT id, ${VECTORS} FROM ${this.#records} WHERE id = ANY($1::bigint[])`,
        [arrayOf(unknown.slice(at, at + READ_AT_ONCE))],
      );
      const vectors = rows.map(({ exact, passages }) => ({ vector: exact, ...(passages && { passages }) }));
      const cosines = unwrap(this.#search.passageCosines(vectors));
      for (const [at, { id }] of rows.entries()) this.#ofRecords.set(id, cosines[at] as number[]);
    }
  }
}

/** Records whose vectors are read at a time. */
const READ_AT_ONCE = 500;
