import type { Pagination, Variant } from '../schema/index.js';
import type { PageOf, RecordOf } from './database.js';

/** The maximum number of records that a request may ask for. */
const PAGE_LIMIT = 100;

/** Yields the records of all pages, beginning at `start`. `fetchPage` requests one page. */
export async function* paginate<V extends Variant>(
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
