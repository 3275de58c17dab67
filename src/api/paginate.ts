import type { Page, Pagination } from '../schema/index.js';

/** The maximum number of records that a request may ask for. */
const PAGE_LIMIT = 100;

/** Yields the records of all pages, beginning at `start`. `fetchPage` requests one page. */
export async function* paginate<Item>(
  fetchPage: (pagination: Pagination) => Promise<Page<Item>>,
  start: Pagination = {},
): AsyncGenerator<Item, void, undefined> {
  let pagination: Pagination = { ...start, limit: start.limit ?? PAGE_LIMIT };
  for (;;) {
    const page = await fetchPage(pagination);
    yield* page.results;
    const { has_more, next_cursor } = page.pagination;
    if (!has_more || next_cursor === undefined) return;
    pagination = { ...pagination, cursor: next_cursor };
  }
}
