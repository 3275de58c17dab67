import type { Pagination, Variant } from '../schema/index.js';
import type { PageOf, RecordOf } from './database.js';

/** Records of a page: as many as a request may ask for. */
const PAGE_LIMIT = 100;

/** Yields the records of all pages, from the position `start` on. `fetchPage` returns the page at a position. */
export async function* drain<V extends Variant>(
  fetchPage: (pagination: Pagination) => Promise<PageOf<V>>,
  start: Pagination = {},
): AsyncGenerator<RecordOf<V>, void, undefined> {
  let pagination: Pagination = { limit: PAGE_LIMIT, ...start };
  for (;;) {
    const page = await fetchPage(pagination);
    yield* page.results as RecordOf<V>[];
    const { has_more, next_cursor } = page.pagination;
    if (!has_more || next_cursor === undefined) return;
    pagination = { ...pagination, cursor: next_cursor };
  }
}
