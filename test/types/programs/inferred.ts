// What a program exports without writing its type. The compiler has to be able to name every type for a declaration file.
import {
  and,
  CosiftError,
  contains,
  type Database,
  type Databases,
  endsWith,
  equals,
  type Facet,
  type FacetCounts,
  type FilterRule,
  greaterThan,
  greaterThanOrEquals,
  isEmpty,
  isNotEmpty,
  lessThan,
  lessThanOrEquals,
  type NewRecord,
  notContains,
  notEquals,
  open,
  or,
  type Sort,
  startsWith,
} from 'cosift';
import { Client } from 'cosift/client';
import type { Product } from './product.js';

export const rules = {
  equals: equals('a', 1),
  notEquals: notEquals('a', true),
  greaterThan: greaterThan('a', 1),
  lessThan: lessThan('a', 1),
  greaterThanOrEquals: greaterThanOrEquals('a', 1),
  lessThanOrEquals: lessThanOrEquals('a', 1),
  contains: contains('a', 'x'),
  notContains: notContains('a', 'x'),
  startsWith: startsWith('a', 'x'),
  endsWith: endsWith('a', 'x'),
  isEmpty: isEmpty('a'),
  isNotEmpty: isNotEmpty('a'),
};
export const group = and(equals('a', 1), or(isEmpty('b'), isNotEmpty('c')));
export const dearer = (price: number) => and(greaterThan('price', price), equals('available', true));
export const compared = (rule: FilterRule) => (rule.operator === 'equals' ? rule : undefined);

export const search = (products: Database<Product>) => products.search('a lamp', { filter: dearer(10) });
export const all = (products: Database<Product>) => products.queryAll({ sort: { time: 'synced_at' } });
export const map = (products: Database<Product>) => products.map();
export const changes = (facts: Database) => facts.changes();
export const described = async (facts: Database) => (await facts.describe()).reembedding;
export const written = async (facts: Database) => (await facts.upsert([{ data: { a: 1 } }])).results;
export const lines = (facts: Database) => facts.upsertLines(['{}']);
export const checks = (databases: Databases) => databases.doctor();
export const service = async (client: Client) => ({
  keys: await client.keys(),
  issued: await client.issueKey({ name: 'k', actions: ['search'], databases: '*' }),
  webhooks: await client.database('facts').webhooks(),
});
export const opened = () => open('data');
export const made = () =>
  new Client({ url: 'http://127.0.0.1:8080', key: 'k' }).database<Product>('products');

/** Members of the types of requests and results, and alternatives of unions. */
export const passages = ({ passages }: NewRecord) => passages;
export const byColumn = (sort: Sort<Product>) => (sort.time === undefined ? sort : undefined);
export const byTime = (sort: Sort<Product>) => (sort.column === undefined ? sort : undefined);
export const facetOfTime = (facet: Facet<Product>) => (facet.column === undefined ? facet : undefined);
export const facetOfColumn = (facet: Facet<Product>) => (facet.column !== undefined ? facet : undefined);
export const facts = (error: unknown) =>
  error instanceof CosiftError ? { fields: error.fields, problems: error.problems } : undefined;

/** The counts of a facet, told apart by the member that says its kind. */
export const counted = (counts: FacetCounts) => {
  switch (counts.type) {
    case 'values':
      return { values: counts };
    case 'histogram':
      return { intervals: counts };
    default:
      return { times: counts };
  }
};
