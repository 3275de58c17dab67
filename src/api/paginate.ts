import { isPlain } from '../schema/plain.js';
import type { Page, Pagination } from '../schema/public-types.js';

/** The maximum number of records that a request may ask for. */
const PAGE_LIMIT = 100;

/**
 * Yields the records of all pages, beginning at the page of `request`, which the caller must not change. `fetchPage`
 * requests one page. Throws the reason of the signal instead of a further record once it is aborted.
 */
export async function* paginate<Request extends { pagination?: Pagination | undefined }, Item>(
  request: Request,
  fetchPage: (request: Request) => Promise<Page<Item>>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Item, void, undefined> {
  // `fetchPage` refuses what is not an object. A copy of it would be an empty request, which finds all records.
  if (!isPlain(request) || !isPlain(request.pagination ?? {})) await fetchPage(request);
  const { limit = PAGE_LIMIT } = request.pagination ?? {};
  let pagination: Pagination = { ...request.pagination, limit };
  for (;;) {
    const page = await fetchPage({ ...request, pagination });
    for (const item of page.results) {
      signal?.throwIfAborted();
      yield item;
    }
    const { has_more, next_cursor } = page.pagination;
    if (!has_more || next_cursor === undefined) return;
    pagination = { ...pagination, cursor: next_cursor };
  }
}
