import { type Restriction, restrictionSql } from './filter-sql.js';
import type { MatchOrder } from './match-order.js';
import type { RecordTables } from './schema.js';
import { arrayOf, namedSql, type Sql, Values } from './sql.js';

/** A vector that a scan found. */
export interface Candidate {
  id: number;
  uuid: string;
  /** Its score in single precision, which differs from the exact score by at most the margin. */
  s: number;
  direction: Uint8Array;
  /** The direction as the key of a map. */
  key: string;
  /** The exact vector of a record with one. */
  exact?: Uint8Array;
  /** The number of the passage, of a record with several. */
  number?: number;
}

/** What restricts a scan. */
interface ScanRange {
  minScore: number;
  /** The largest score, if there is one. */
  maxScore: number | undefined;
  /** The last vector of the scan before. */
  last: Candidate | undefined;
  /** Directions that are left out. */
  excluded: readonly Uint8Array[];
  /** Vectors to read at most. */
  size: number;
}

/** What the sources of a search have in common. */
export interface SourceSearch {
  sql: Sql;
  tables: RecordTables;
  restriction: Restriction;
  order: MatchOrder;
  /** The query in the binary form of pgvector. */
  vector: Uint8Array;
}

/** Finds vectors by their scores in single precision: those of the records with one vector, or with several. */
export class VectorSource {
  /** Whether it has the vectors of records with several. */
  readonly isOfPassages: boolean;
  readonly #search: SourceSearch;

  constructor(search: SourceSearch, isOfPassages: boolean) {
    this.#search = search;
    this.isOfPassages = isOfPassages;
  }

  /** The next vectors in the order of score and identity. */
  async scan({ minScore, maxScore, last, excluded, size }: ScanRange): Promise<Candidate[]> {
    const { order } = this.#search;
    const values = new Values();
    const s = this.#scoreSql(values);
    const conditions = [`${s} >= ${values.bind(minScore)}::float8`];
    if (last !== undefined) {
      const score = `${values.bind(last.s)}::float8`;
      conditions.push(`(${s} < ${score} OR (${s} = ${score} AND ${this.#afterSql(last, values)}))`);
    } else if (maxScore !== undefined) conditions.push(`${s} <= ${values.bind(maxScore)}::float8`);
    if (excluded.length > 0) conditions.push(this.#excludedSql(excluded, values));
    const terms = ['3 DESC', `${order.column} ASC`, ...(this.isOfPassages ? ['number ASC'] : [])];
    return await this.#select(s, conditions, terms, size, values);
  }

  /** The first records with a vector of a direction, in the order of their identities. */
  async ofDirection(direction: Uint8Array, after: string | undefined, size: number): Promise<Candidate[]> {
    const { order } = this.#search;
    const values = new Values();
    const conditions = [`${this.#directionSql} = ${values.bind(direction)}::bytea`];
    if (after !== undefined) conditions.push(order.idSql('>', after, values));
    return await this.#select(this.#scoreSql(values), conditions, [`${order.column} ASC`], size, values);
  }

  /** The first records whose vector, or first vector, scores at most `maxScore`, in the order of their identities. */
  async upTo(maxScore: number, after: string | undefined, size: number): Promise<Candidate[]> {
    const { order } = this.#search;
    const values = new Values();
    const s = this.#scoreSql(values);
    const conditions = [`${s} <= ${values.bind(maxScore)}::float8`];
    if (this.isOfPassages) conditions.push('number = 0');
    if (after !== undefined) conditions.push(order.idSql('>', after, values));
    return await this.#select(s, conditions, [`${order.column} ASC`], size, values);
  }

  /** The vectors of some records. */
  async named(ids: readonly number[]): Promise<Candidate[]> {
    const values = new Values();
    return await this.#select(this.#scoreSql(values), [namedSql(ids, values)], [], undefined, values);
  }

  /** The condition of the vectors that score at least `minScore`. */
  atLeastSql(minScore: number, values: Values): string {
    return `${this.#scoreSql(values)} >= ${values.bind(minScore)}::float8`;
  }

  /** The condition of the vectors that score more than `minScore`. */
  aboveSql(minScore: number, values: Values): string {
    return `${this.#scoreSql(values)} > ${values.bind(minScore)}::float8`;
  }

  /** The records with a vector that scores at least `minScore`, with their largest scores. */
  async largest(minScore: number): Promise<{ id: number; uuid: string; s: number }[]> {
    const { sql, restriction } = this.#search;
    const values = new Values();
    const s = this.#scoreSql(values);
    const conditions = [...restrictionSql(restriction, values), `${s} >= ${values.bind(minScore)}::float8`];
    return await sql.run(
      `SELECT id, uuid, max(${s}) AS s FROM ${this.#from} WHERE ${conditions.join(' AND ')} GROUP BY id, uuid`,
      values.list,
    );
  }

  async #select(
    s: string,
    conditions: readonly string[],
    order: readonly string[],
    size: number | undefined,
    values: Values,
  ): Promise<Candidate[]> {
    const { sql, restriction } = this.#search;
    const all = [...restrictionSql(restriction, values), ...conditions];
    const ordered = order.length === 0 ? '' : `ORDER BY ${order.join(', ')}`;
    const limit = size === undefined ? '' : `LIMIT ${values.bind(size)}::integer`;
    const own = this.isOfPassages ? 'number' : 'exact';
    const rows = await sql.run<Candidate>(
      `SELECT id, uuid, ${s} AS s, ${this.#directionSql} AS direction, ${own} FROM ${this.#from}
      WHERE ${all.join(' AND ')} ${ordered} ${limit}`,
      values.list,
    );
    for (const row of rows) row.key = hex(row.direction);
    return rows;
  }

  get #from(): string {
    const { records, passages } = this.#search.tables;
    return this.isOfPassages ? `${passages} JOIN ${records} ON id = record` : records;
  }

  get #directionSql(): string {
    return this.isOfPassages ? 'passage_direction' : 'direction';
  }

  #scoreSql(values: Values): string {
    const column = this.isOfPassages ? 'passage_emb' : 'emb';
    return `-(${column} <#> ${values.bind(this.#search.vector)}::vector)`;
  }

  #excludedSql(excluded: readonly Uint8Array[], values: Values): string {
    return `${this.#directionSql} <> ALL(${values.bind(arrayOf(excluded))}::bytea[])`;
  }

  /** The condition of the vectors with the score of `last` that come after it. */
  #afterSql(last: Candidate, values: Values): string {
    const { order } = this.#search;
    const after = order.idSql('>', order.idOf(last), values);
    if (last.number === undefined) return after;
    return `(${after} OR (id = ${values.bind(last.id)}::bigint AND number > ${values.bind(last.number)}::bigint))`;
  }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}
