import type { Page, SearchRequest, Variant } from '../schema/public-types.js';
import { copied } from './copied.js';
import type { SearchOptions } from './options.js';
import { paginate } from './paginate.js';
import { type SearchCall, searchCall } from './search-call.js';

/** Yields the results of all pages of a search as it is now. `search` requests one page. */
export function searchAll<T, V extends Variant, Item>(
  query: string | SearchRequest<T>,
  options: SearchOptions<T, V> | undefined,
  search: (call: SearchCall<V>) => Promise<Page<Item>>,
): AsyncGenerator<Item, void, undefined> {
  return resultsOf(copied(query), copied(options), search);
}

/** Wrong options are a failure of the first result. */
async function* resultsOf<T, V extends Variant, Item>(
  query: string | SearchRequest<T>,
  options: SearchOptions<T, V> | undefined,
  search: (call: SearchCall<V>) => Promise<Page<Item>>,
): AsyncGenerator<Item, void, undefined> {
  const call = searchCall(query, options);
  yield* paginate(call.request, (request) => search({ ...call, request }), call.options.signal);
}
