// Everything here has to compile.
import {
  and,
  before,
  type Columns,
  CosiftError,
  contains,
  type Database,
  type Databases,
  endsWith,
  equals,
  type Filter,
  greaterThan,
  greaterThanOrEquals,
  isEmpty,
  isIn,
  isNotEmpty,
  isNotIn,
  lessThan,
  lessThanOrEquals,
  type NewRecord,
  notContains,
  notEquals,
  onOrAfter,
  open,
  or,
  type Query,
  type SearchResult,
  type StoredRecord,
  startsWith,
} from 'cosift';
import { Client } from 'cosift/client';
import { type Article, lamp, type Product } from './product.js';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(yes: Same<A, B>): void => void yes;

export async function typed(
  cosift: Databases,
  limit: number | undefined,
  signal: AbortSignal,
): Promise<void> {
  const products = await cosift.createDatabase<Product>('products', {
    embed: { columns: ['name', 'note'] },
    model: undefined,
  });
  same<typeof products, Database<Product>>(true);

  await products.upsert([{ id: 1, data: lamp }, { data: { ...lamp, note: 'small' } }]);
  await products.upsert(new Set([{ data: lamp, vector: new Float32Array(3) }]), {
    signal,
    onProgress: ({ committed }) => console.log(committed.toFixed()),
  });

  const page = await products.search('a lamp', {
    filter: and(
      equals('category', 'lamp'),
      notEquals('available', false),
      or(greaterThan('price', 10), lessThanOrEquals('weight', 3)),
      startsWith('note', 'small'),
    ),
    limit,
    threshold: 0.3,
    timeRange: { start_time: '2026-01-01' },
    facets: [{ column: 'category' }, { column: 'price', type: 'histogram', interval: 10 }],
    total: true,
    explain: false,
    signal,
  });
  const [first] = page.results;
  if (first !== undefined) {
    same<typeof first, SearchResult<Product>>(true);
    same<typeof first.data.weight, number | null>(true);
    console.log(first.id.toFixed(), first.relevance_score.toFixed(), first.data.note?.length);
  }
  await products.search('a lamp', { filter: greaterThan('price', 10) });
  await products.search('a lamp', { filter: { column: 'price', operator: 'less_than', value: 3 } });
  await products.search('a lamp', { filter: { rules: [{ column: 'note', operator: 'is_empty' }] } });
  const rules = (['lamp', 'chair'] as const).map((category) => equals('category', category));
  await products.search('a lamp', { filter: or(...rules), cursor: page.pagination.next_cursor ?? '' });
  for await (const { id, uuid } of products.searchAll('a lamp')) console.log(id.toFixed(), uuid.trim());

  const filter: Filter<Product> = and(lessThan('price', 9), greaterThanOrEquals('weight', 1));
  await products.search({ text: 'a lamp' }, { filter, limit });
  await products.search({ vector: [1, 2] });
  for await (const { data } of products.searchAll({ vector: new Float32Array(2) })) data.name.trim();
  await products.search('a lamp', {
    boosts: [
      { weight: 0.2, filter: equals('category', 'lamp') },
      { weight: 0.1, filter },
      { weight: 0.1, column: 'price', target: 10, scale: 5 },
      { weight: 0.1, time: 'created_at', target: '2026-01-31', scale: 'P30D' },
    ],
  });
  await products.map({
    search: 'a lamp',
    boosts: [{ weight: 0.1, column: 'note', target: '2026-01-31', scale: 1 }],
  });

  const listed = await products.query({
    filter: and(
      contains('name', 'a'),
      notContains('note', 'b'),
      endsWith('name', 'c'),
      isNotEmpty('weight'),
      isIn('category', ['lamp', 'chair']),
      or(isNotIn('price', [3, 9]), before('note', '2026-01-31'), onOrAfter('note', '2026-02-01')),
    ),
    sort: { column: 'weight', direction: 'desc' },
  });
  listed.results[0]?.timestamps.synced_at.trim();
  const byTime = await products.query({ sort: { time: 'created_at' } });
  same<(typeof byTime.results)[number], StoredRecord<Product>>(true);
  await products.query({ sort: { time: 'synced_at' } });
  for await (const { data } of products.queryAll({ filter: isEmpty('weight') })) data.category.trim();

  (await products.get(1))?.id.toFixed();
  (await products.get('0190a0b2-7c3d-7abc-8def-0123456789ab'))?.timestamps.synced_at.trim();
  await products.patch(1, { price: 3, weight: null, note: null });
  await products.delete({ ids: [1, '0190a0b2-7c3d-7abc-8def-0123456789ab'] });
  await products.delete({ filter: equals('category', 'chair'), timeRange: { end_time: '2026-01-01' } });
  await products.delete({ timeRange: { start_time: '2026-01-01' } });
  for await (const event of products.upsertLines(['{}\n'], {
    onProgress: ({ lines }) => console.log(lines),
  })) {
    if (event.type === 'summary') console.log(event.failed);
  }
}

/** Without a type of the records, columns have any names. */
export async function untyped(cosift: Databases, name: string): Promise<void> {
  const facts = await cosift.createDatabase('facts', { embed: { columns: ['text'] } });
  same<typeof facts, Database>(true);
  const literal = { data: { text: 'a', height_m: 3, gone: undefined } };
  const records: NewRecord[] = [{ id: 1, data: { text: 'a' } }];
  await facts.upsert(records);
  await facts.upsert([literal, { data: { other: null } }, { data: {} }]);
  await facts.upsert([{ data: lamp }, { data: { ...lamp, note: 'small' } }]);
  await facts.upsert(
    (async function* () {
      yield { data: lamp };
    })(),
  );
  await facts.upsert([]);
  await facts.patch(1, { height_m: null });
  await facts.patch(1, lamp);
  const { results } = await facts.search('a', { filter: equals(name, name) });
  type Scalar = string | number | boolean;
  same<(typeof results)[number]['data'][string], Scalar | null | readonly Scalar[]>(true);
  const where: Filter = { condition: 'OR', rules: [{ column: 'any', operator: 'contains', value: 'x' }] };
  await facts.search('a', { filter: where, facets: [{ column: name }, { time: 'synced', interval: 'day' }] });
  await facts.query({ sort: { column: 'height_m' } });
}

/** A class for records of one type, which it does not know. */
export class Repository<T extends Columns<T>> {
  readonly #database: Database<T>;

  constructor(database: Database<T>) {
    this.#database = database;
  }

  async find(query: Query, signal: AbortSignal): Promise<T[]> {
    const { results } = await this.#database.search(query, { signal });
    return results.map(({ data }) => data);
  }

  async *with<Column extends keyof T & string>(
    column: Column,
    value: T[Column] & (string | number | boolean),
  ): AsyncGenerator<T> {
    for await (const { data } of this.#database.queryAll({ filter: equals(column, value) })) yield data;
  }

  async add(rows: readonly T[]): Promise<number> {
    return (await this.#database.upsert(rows.map((data) => ({ data })))).created;
  }

  async change(id: number, changes: Partial<T>): Promise<T> {
    return (await this.#database.patch(id, changes)).data;
  }
}

/** A filter of as many rules as the user chose. */
export async function chosen(products: Database<Product>, given: { dearer?: number }): Promise<void> {
  const rules: Filter<Product>[] = [isNotEmpty('name')];
  if (given.dearer !== undefined) rules.push(greaterThan('price', given.dearer));
  rules.push(or(equals('category', 'lamp'), isEmpty('weight')));
  await products.search('a lamp', { filter: rules.length > 1 ? and(...rules) : undefined });
  await new Repository(products).find('a lamp', new AbortController().signal);
}

export function explained(error: unknown): string {
  if (!(error instanceof CosiftError)) throw error;
  const { committed = 0, expected, got, reason } = error.fields;
  switch (error.code) {
    case 'invalid_dimensions':
      return `${expected?.toFixed()} expected, ${got?.toFixed()} given`;
    case 'unreachable':
      return reason?.trim() ?? error.detail;
    default:
      return `${committed.toFixed()} ${error.fields.sqlite}`;
  }
}

/** A function over databases of any records. */
// biome-ignore lint/suspicious/noExplicitAny: what a user writes who has no type of records
export async function count(database: Database<any>): Promise<number> {
  return (await database.query({ total: true })).total?.value ?? 0;
}

export async function opened(signal: AbortSignal): Promise<void> {
  await using cosift = await open('data', { signal });
  await using client = new Client({ url: 'http://127.0.0.1:8080', key: 'k' });
  for (const databases of [cosift, client]) {
    await typed(databases, undefined, signal);
    await count(databases.database<Product>('products'));
    await databases.databases({ signal });
  }
  new Client({ url: '', key: '', retries: undefined, maxWaitMs: undefined, fetch: undefined });
  const webhook = await client.database<Product>('products').createWebhook({ url: 'https://example.org' });
  console.log(webhook.secret);
  const key = await client.issueKey({
    name: 'k',
    actions: ['search'],
    databases: '*',
    filter: and(isEmpty('a')),
  });
  await client.revokeKey(key.key_id, { descendants: true, signal });
}

export async function nested(facts: Database): Promise<void> {
  interface Address {
    city: string;
    geo?: { lat: number; lon: number };
  }
  const address: Address = { city: 'Rome' };
  const people: readonly { name: string; address: Address; visits: { year: number }[] }[] = [];
  await facts.upsert(people.map((data) => ({ data })));
  await facts.upsert([{ data: { address, tags: ['a', null], grid: [[1], [2]] } }, { data: { name: 'Bo' } }]);
  await facts.patch(1, { address: { geo: null, city: 'Milan' } });
}

export async function lists(articles: Database<Article>, facts: Database): Promise<void> {
  await articles.upsert([
    { data: { title: 'Rye bread', tags: ['bread'], minutes: [30, 1440], mixed: [true] } },
  ]);
  await articles.patch(1, { tags: ['bread', 'rye'], minutes: null });
  const { results } = await articles.query({
    filter: and(
      equals('tags', 'bread'),
      isIn('tags', ['bread', 'rye']),
      notContains('tags', 'tool'),
      greaterThan('minutes', 40),
      or(equals('mixed', true), notEquals('mixed', 'a'), isEmpty('tags')),
    ),
    sort: { column: 'tags' },
    facets: [{ column: 'tags' }, { column: 'minutes', type: 'histogram', interval: 30 }],
    distinct: 'tags',
  });
  const tags = results.map(({ data }) => data.tags);
  same<typeof tags, string[][]>(true);
  await facts.upsert([{ data: { tags: ['a', 1, true], none: [] } }]);
  await facts.query({ filter: equals('tags', 1) });
}
