import type { Page, Pagination } from '../schema/public-types.js';
import type { CheckedRequest } from './checked-copy.js';
import type { CallOptions } from './options.js';
import type { Call } from './requests.js';

/** The maximum number of records that a request may ask for. */
const PAGE_LIMIT = 100;

/**
 * Yields the records of all pages, beginning at the page of the call. `fetchPage` requests one page. Throws the reason of
 * the signal instead of a further record once it is aborted.
 */
export async function* paginate<Request extends { pagination?: Pagination | undefined }, Item>(
  { checked, signal, run }: Call<Request>,
  fetchPage: (request: CheckedRequest<Request>, options: CallOptions) => Promise<unknown>,
): AsyncGenerator<Item, void, undefined> {
  const { request, bytes } = checked;
  let pagination: Pagination = { limit: PAGE_LIMIT, ...request.pagination };
  for (;;) {
    const next = pagination;
    const fetched = await run((_, options) =>
      fetchPage({ request: { ...request, pagination: next }, bytes }, options),
    );
    const { results, pagination: place } = fetched as Page<Item>;
    for (const item of results) {
      signal?.throwIfAborted();
      yield item;
    }
    if (!place.has_more || place.next_cursor === undefined) return;
    pagination = { ...pagination, cursor: place.next_cursor };
  }
}
