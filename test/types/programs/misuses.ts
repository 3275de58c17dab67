// Each line after an expected error must not compile: an error that is expected and does not come is an error.
import { and, contains, type Database, type Databases, equals, greaterThan, or } from 'cosift';
import { type Article, lamp, type Product } from './product.js';

export async function misuses(
  cosift: Databases,
  products: Database<Product>,
  facts: Database,
): Promise<void> {
  // What to search for.
  // @ts-expect-error: neither text nor vector
  await facts.search({});
  // @ts-expect-error: nothing
  await facts.search();
  // @ts-expect-error: no text
  await facts.search(5);
  // @ts-expect-error: an option in the query
  await facts.search({ text: 'a', threshold: 0.5 });
  // @ts-expect-error: an unknown option
  await facts.search('a', { treshold: 0.5 });
  // @ts-expect-error: a name of the HTTP interface
  await facts.search('a', { pagination: { limit: 5 } });
  // @ts-expect-error: a limit that is no number
  await facts.search('a', { limit: '5' });
  // @ts-expect-error: an unknown option
  facts.searchAll('a', { treshold: 0.5 });

  // Boosts.
  // @ts-expect-error: no weight
  await facts.search('a', { boosts: [{ column: 'a', target: 1, scale: 1 }] });
  // @ts-expect-error: no scale
  await facts.search('a', { boosts: [{ weight: 1, column: 'a', target: 1 }] });
  // @ts-expect-error: a filter has no target
  await facts.search('a', { boosts: [{ weight: 1, filter: equals('a', 1), target: 1, scale: 1 }] });
  // @ts-expect-error: a column or a time
  await facts.search('a', { boosts: [{ weight: 1, column: 'a', time: 'synced_at', target: 1, scale: 1 }] });
  // @ts-expect-error: no such column
  await products.search('a', { boosts: [{ weight: 1, column: 'colour', target: 1, scale: 1 }] });
  // @ts-expect-error: no such column
  await products.search('a', { boosts: [{ weight: 1, filter: equals('colour', 1) }] });

  // What to delete.
  // @ts-expect-error: nothing
  await facts.delete({});
  // @ts-expect-error: ids and a filter
  await facts.delete({ ids: [1], filter: equals('a', 1) });
  // @ts-expect-error: every time
  await facts.delete({ timeRange: {} });
  // @ts-expect-error: an unknown member
  await facts.delete({ id: 1 });

  // What is no part of the interface.
  // @ts-expect-error: how calls are sent
  facts.port;

  // The order.
  // @ts-expect-error: neither column nor time
  await facts.query({ sort: {} });
  // @ts-expect-error: both
  await facts.query({ sort: { column: 'a', time: 'synced_at' } });
  // @ts-expect-error: no such direction
  await facts.query({ sort: { column: 'a', direction: 'down' } });
  // @ts-expect-error: no such time
  await facts.query({ sort: { time: 'last_seen_time' } });

  // Rules.
  // @ts-expect-error: no such operator
  await facts.query({ filter: { rules: [{ column: 'a', operator: 'like', value: 'b' }] } });
  // @ts-expect-error: a text
  await facts.query({ filter: { rules: [{ column: 'a', operator: 'greater_than', value: 'b' }] } });
  // @ts-expect-error: a number
  await facts.query({ filter: { rules: [{ column: 'a', operator: 'contains', value: 1 }] } });
  // @ts-expect-error: a value
  await facts.query({ filter: { rules: [{ column: 'a', operator: 'is_empty', value: 1 }] } });
  // @ts-expect-error: no value
  await facts.query({ filter: { rules: [{ column: 'a', operator: 'equals' }] } });
  // @ts-expect-error: null
  await facts.query({ filter: { rules: [{ column: 'a', operator: 'equals', value: null }] } });
  // @ts-expect-error: no such condition
  await facts.query({ filter: { condition: 'XOR', rules: [] } });
  // @ts-expect-error: no rules
  await facts.query({ filter: { condition: 'AND' } });
  // @ts-expect-error: no number
  greaterThan('a', 'b');
  // @ts-expect-error: no text
  contains('a', 1);

  // Facets.
  // @ts-expect-error: nothing
  await facts.search('a', { facets: [{}] });
  // @ts-expect-error: a histogram without an interval
  await facts.search('a', { facets: [{ column: 'a', type: 'histogram' }] });
  // @ts-expect-error: an interval without a histogram
  await facts.search('a', { facets: [{ column: 'a', interval: 5 }] });
  // @ts-expect-error: a time without an interval
  await facts.search('a', { facets: [{ time: 'synced' }] });

  // Records.
  // @ts-expect-error: no data
  await facts.upsert([{ id: 1 }]);
  // @ts-expect-error: a value that is no value of a column
  await facts.upsert([{ data: { at: new Date() } }]);
  // @ts-expect-error: a value that is no value of a column, in an object
  await facts.upsert([{ data: { a: { at: new Date() } } }]);
  // @ts-expect-error: an unknown member
  await facts.upsert([{ data: {}, vektor: [1] }]);
  // @ts-expect-error: no such time
  await facts.upsert([{ data: {}, timestamps: { created_at: '2026-01-01', last_seen_time: '2026-01-01' } }]);
  // @ts-expect-error: no list
  await facts.upsert({ data: {} });
  // @ts-expect-error: a value that is no value of a column
  await facts.patch(1, { at: new Date() });

  // Settings and options.
  // @ts-expect-error: an unknown setting
  await cosift.createDatabase('a', { dimension: 5 });
  // @ts-expect-error: an unknown option
  await facts.describe({ sginal: undefined });
  // @ts-expect-error: an unknown option
  await facts.changes({ wait: 5 });
  // @ts-expect-error: a date is no value of a column
  cosift.database<{ at: Date }>('a');

  // Columns by their types.
  // @ts-expect-error: no such column
  await products.search('a', { filter: equals('nam', 'x') });
  // @ts-expect-error: no such column
  await products.search('a', { filter: { column: 'nam', operator: 'equals', value: 'x' } });
  // @ts-expect-error: a text column
  await products.search('a', { filter: greaterThan('name', 3) });
  // @ts-expect-error: a number column
  await products.search('a', { filter: contains('price', 'x') });
  // @ts-expect-error: a number column
  await products.search('a', { filter: equals('price', 'x') });
  // @ts-expect-error: no value of the column
  await products.search('a', { filter: equals('category', 'table') });
  // @ts-expect-error: no such column, in a group
  await products.search('a', { filter: and(equals('name', 'x'), greaterThan('prise', 1)) });
  // @ts-expect-error: a group without rules is refused
  await products.search('a', { filter: and() });
  // @ts-expect-error: a group without rules is refused
  await products.query({ filter: or() });
  // @ts-expect-error: no such column
  await products.search('a', { facets: [{ column: 'nam' }] });
  // @ts-expect-error: a text column
  await products.search('a', { facets: [{ column: 'name', type: 'histogram', interval: 5 }] });
  // @ts-expect-error: no such column
  await products.query({ sort: { column: 'nam' } });
  // @ts-expect-error: no such column
  await products.delete({ filter: equals('nam', 'x') });
  // @ts-expect-error: no such column
  await cosift.createDatabase<Product>('a', { embed: { columns: ['nam'] } });
  // @ts-expect-error: a column is missing
  await products.upsert([{ data: { name: 'a' } }]);
  // @ts-expect-error: no such column
  await products.upsert([{ data: { ...lamp, nam: 'a' } }]);
  // @ts-expect-error: another type
  await products.upsert([{ data: { ...lamp, price: '3' } }]);
  // @ts-expect-error: no such column
  await products.patch(1, { prise: 3 });
  // @ts-expect-error: a column that every record has
  await products.patch(1, { price: null });
  // @ts-expect-error: no such column
  (await products.get(1))?.data.nam;
  // @ts-expect-error: a result of a query has no score
  (await products.query()).results[0]?.relevance_score.toFixed();
}

export async function lists(articles: Database<Article>, facts: Database): Promise<void> {
  // @ts-expect-error: another type than the elements
  await articles.query({ filter: equals('tags', 5) });
  // @ts-expect-error: a list as the value
  await articles.query({ filter: { column: 'tags', operator: 'equals', value: ['bread'] } });
  // @ts-expect-error: no strings
  await articles.query({ filter: contains('minutes', 'a') });
  // @ts-expect-error: no numbers
  await articles.query({ filter: greaterThan('tags', 1) });
  // @ts-expect-error: null in a list of strings
  await articles.upsert([{ data: { title: 'a', tags: ['a', null] } }]);
  // @ts-expect-error: a function in a list
  await facts.upsert([{ data: { tags: [() => 1] } }]);
}
