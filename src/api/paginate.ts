import { isPlain } from '../schema/plain.js';
import type { Page } from '../schema/public-types.js';

/** The maximum number of records that a request may ask for. */
const PAGE_LIMIT = 100;

/** The options that a page has of its own. */
interface PageOptions {
  limit?: number | undefined;
  cursor?: string | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Yields the records of all pages, beginning at the page of `options`, which the caller must not change. `fetchPage`
 * requests one page. Throws the reason of the signal instead of a further record once it is aborted.
 */
export async function* paginate<Options extends PageOptions, Item>(
  options: Options | undefined,
  fetchPage: (options: Options | undefined) => Promise<Page<Item>>,
): AsyncGenerator<Item, void, undefined> {
  // `fetchPage` refuses what is not an object. A copy of it would be empty options, which find all records.
  if (options !== undefined && !isPlain(options)) await fetchPage(options);
  let next = { limit: PAGE_LIMIT, ...options } as Options;
  for (;;) {
    const { results, pagination } = await fetchPage(next);
    for (const item of results) {
      options?.signal?.throwIfAborted();
      yield item;
    }
    if (!pagination.has_more || pagination.next_cursor === undefined) return;
    next = { ...next, cursor: pagination.next_cursor };
  }
}
