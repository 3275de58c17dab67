import { isDeepStrictEqual } from 'node:util';
import { satisfies } from '../../bench/data/predicate.js';
import type { Data, FilterGroup } from '../../src/schema/index.js';
import type { RecordForm } from '../../src/store/record-store.js';
import { type Boost, boostedScore } from './boost-oracle.js';
import { elementsOf, type Scalar } from './elements.js';
import { exampleVector, relevanceScore } from './score.js';
import type { Result } from './test-database.js';

/** A record as the oracle knows it; times in milliseconds since 1970. */
export interface KnownRecord {
  id: number;
  uuid: string;
  key?: string;
  data: Data;
  vector: number[];
  created: number;
  changed: number;
  synced: number;
}

/** The examples of a search, by any of their ids. */
export interface Like {
  positive: (number | string)[];
  negative?: (number | string)[];
}

/** The members of a request that decide which records match, in which order, and what results show. */
export interface OracleRequest {
  search?: { vector?: number[]; like?: Like; threshold?: number; boosts?: Boost[] };
  filter?: FilterGroup;
  time_range?: { start_time?: string; end_time?: string };
  sort?: { column?: string; time?: string; direction?: 'asc' | 'desc' };
  columns?: string[];
  distinct?: string | { column: string; counts?: boolean };
}

/** The naive response: every record is tested and scored, then sorted. */
export class Oracle {
  readonly records = new Map<number, KnownRecord>();

  constructor(records: readonly KnownRecord[] = []) {
    for (const record of records) this.records.set(record.id, record);
  }

  /** All matches in the order of the pages. */
  matches(request: OracleRequest, form: RecordForm, forcedFilter?: FilterGroup): KnownRecord[] {
    const { search, filter, time_range: range } = request;
    const start = range?.start_time === undefined ? -Infinity : Date.parse(range.start_time);
    const end = range?.end_time === undefined ? Infinity : Date.parse(range.end_time);
    const found = [...this.records.values()].filter(
      ({ data, synced }) =>
        start <= synced &&
        synced <= end &&
        (filter === undefined || satisfies(data, filter)) &&
        (forcedFilter === undefined || satisfies(data, forcedFilter)),
    );
    const byId = (a: KnownRecord, b: KnownRecord) => compareIds(a, b, form);
    if (search === undefined) {
      return found.sort((a, b) => compareBySort(a, b, request.sort) || byId(a, b));
    }
    const { threshold = 0.2 } = search;
    const scoreOf = this.#scores(search);
    const scores = new Map(found.map((record) => [record, scoreOf(record)]));
    const examples = this.#examples(search.like);
    return found
      .filter((record) => !examples.includes(record))
      .filter((record) => scores.get(record)! >= threshold)
      .sort((a, b) => scores.get(b)! - scores.get(a)! || byId(a, b));
  }

  /** The vector that a search is for. */
  query({ vector, like }: NonNullable<OracleRequest['search']>): number[] {
    if (like === undefined) return vector!;
    const { positive, negative = [] } = like;
    const vectorsOf = (ids: (number | string)[]) => this.#named(ids).map(({ vector }) => vector);
    return exampleVector(vectorsOf(positive), vectorsOf(negative));
  }

  #examples({ positive, negative = [] }: Like = { positive: [] }): KnownRecord[] {
    return this.#named([...positive, ...negative]);
  }

  #named(ids: readonly (number | string)[]): KnownRecord[] {
    const records = [...this.records.values()];
    return ids.map((name) => records.find(({ id, uuid, key }) => [id, uuid, `key:${key}`].includes(name))!);
  }

  /** All results as pages show them: all matches, unless the request asks for distinct values. */
  results(request: OracleRequest, form: RecordForm, forcedFilter?: FilterGroup): Result[] {
    const { search, distinct } = request;
    const scoreOf = search && this.#scores(search);
    const matches = this.matches(request, form, forcedFilter);
    const show = (record: KnownRecord) => shown(record, form, request, scoreOf?.(record));
    if (distinct === undefined) return matches.map(show);
    const column = typeof distinct === 'string' ? distinct : distinct.column;
    const counts = typeof distinct === 'object' && distinct.counts === true;
    const cellOf = ({ data }: KnownRecord) => (Object.hasOwn(data, column) ? data[column]! : null);
    return matches.flatMap((record) => {
      const value = cellOf(record);
      const equal = matches.filter((other) => value !== null && isDeepStrictEqual(cellOf(other), value));
      if (value !== null && equal[0] !== record) return [];
      const group = { value, count: value === null ? 1 : equal.length };
      return [{ ...show(record), ...(counts && { group }) }];
    });
  }

  #scores(search: NonNullable<OracleRequest['search']>): (record: KnownRecord) => number {
    const vector = this.query(search);
    const { boosts = [] } = search;
    return (record) => boostedScore(relevanceScore(vector, record.vector), boosts, record);
  }
}

/** A record as an upsert gives it. */
export function given({ id, uuid, key, data, vector, created, changed, synced }: KnownRecord) {
  const [created_at, changed_at, synced_at] = [created, changed, synced].map(iso);
  return {
    id,
    uuid,
    ...(key !== undefined && { key }),
    data,
    vector,
    timestamps: { created_at, changed_at, synced_at },
  };
}

export function iso(ms: number): string {
  return new Date(ms).toISOString();
}

/** Compares texts by code points. */
export function compareTexts(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function shown(
  record: KnownRecord,
  form: RecordForm,
  { columns }: OracleRequest,
  score: number | undefined,
): Result {
  const [created, changed, synced] = [record.created, record.changed, record.synced].map(iso) as [
    string,
    string,
    string,
  ];
  return {
    id: form === 'uuid' ? record.uuid : record.id,
    ...(form === 'both' && { uuid: record.uuid }),
    ...(record.key !== undefined && { key: record.key }),
    ...(score !== undefined && { relevance_score: score }),
    data: columns === undefined ? record.data : only(record.data, columns),
    timestamps:
      form !== 'integer'
        ? { created_at: created, changed_at: changed, synced_at: synced }
        : { first_seen_time: created, last_changed_time: changed, last_seen_time: synced },
  };
}

function only(data: Data, columns: readonly string[]): Data {
  return Object.fromEntries(Object.entries(data).filter(([name]) => columns.includes(name)));
}

function compareIds(a: KnownRecord, b: KnownRecord, form: RecordForm): number {
  // UUIDs in lower case compare as their 16 bytes.
  return form === 'uuid' ? compareTexts(a.uuid, b.uuid) : a.id - b.id;
}

/** The default is the time of the last sync, latest first. */
function compareBySort(a: KnownRecord, b: KnownRecord, sort: OracleRequest['sort']): number {
  if (sort === undefined) return b.synced - a.synced;
  const { column, time, direction } = sort;
  const sign = direction === 'desc' ? -1 : 1;
  if (column === undefined) return sign * (timeOf(a, time) - timeOf(b, time));
  const compare = (x: Scalar, y: Scalar) => sign * compareValues(x, y);
  // Of a list, the element counts that is the first one in the direction.
  const [x, y] = [a, b].map((record) => elementsOf(record, column).sort(compare)[0]);
  // Records without a value are last in both directions.
  if (x === undefined || y === undefined) return Number(x === undefined) - Number(y === undefined);
  return compare(x, y);
}

function timeOf(record: KnownRecord, name: string | undefined): number {
  switch (name) {
    case 'created_at':
    case 'first_seen_time':
      return record.created;
    case 'changed_at':
    case 'last_changed_time':
      return record.changed;
    case 'synced_at':
    case 'last_seen_time':
      return record.synced;
    default:
      throw new Error(`no time is called ${name}`);
  }
}

const TYPES = ['boolean', 'number', 'string'];

/** Booleans, then numbers, then texts, each type in its own order. */
export function compareValues(x: Scalar, y: Scalar): number {
  if (typeof x !== typeof y) return TYPES.indexOf(typeof x) - TYPES.indexOf(typeof y);
  if (typeof x === 'string' && typeof y === 'string') return compareTexts(x, y);
  return Number(x) - Number(y);
}
