import { ask, databasePath, jsonOf, send } from '../api.js';
import { pageRequestOf, requestOf } from '../query.js';
import { useMemo, useRef, useState } from '../vendor/hooks.js';
import { useRequest } from './use-request.js';

/** The first step of a slider is searched for at once. Those that follow faster than this share a request. */
const SPACING_MS = 40;

/** Matches are counted when the user pauses: that takes longer than finding the best ones. */
const COUNT_DELAY_MS = 100;

/**
 * The pages of a query so far, requested again whenever the query or `revision` changes.
 *
 * @returns the state of the first page as {@link useRequest} has it, with the `results` of all pages, and `loadMore`
 */
export function useSearch(key, query, revision) {
  const { operation, body, pointers } = pageRequestOf(query);
  const { database } = query;
  const json = JSON.stringify(body);
  const load = (signal) => requestPage({ key, database, operation, body, signal });
  const enabled = database !== '';
  const first = useRequest(enabled ? load : undefined, [key, database, json, revision], {
    spacingMs: SPACING_MS,
  });
  const total = useTotal(key, query, first);

  // Further pages belong to the first page that they follow.
  const [more, setMore] = useState({ first: undefined, results: [] });
  const running = useRef();
  const isCurrent = more.first === first.value;
  const last = isCurrent && more.pagination ? more.pagination : first.value?.pagination;
  const loadMore = async () => {
    if (last?.next_cursor === undefined || running.current === first.value) return;
    running.current = first.value;
    const follows = first.value;
    const before = isCurrent ? more.results : [];
    setMore({ ...more, first: follows, results: before, isLoading: true, failure: undefined });
    try {
      const next = pageRequestOf(query, { cursor: last.next_cursor });
      const page = await requestPage({ key, database, operation, body: next.body });
      setMore({ first: follows, results: [...before, ...page.results], pagination: page.pagination });
    } catch (failure) {
      setMore({ first: follows, results: before, pagination: last, failure });
    }
    running.current = undefined;
  };
  const results = useMemo(
    () => [...(first.value?.results ?? []), ...(isCurrent ? more.results : [])],
    [first.value, isCurrent && more.results],
  );
  return {
    ...first,
    total,
    pointers,
    results,
    hasMore: last?.has_more ?? false,
    loadMore,
    isLoadingMore: isCurrent && more.isLoading === true,
    failureOfMore: isCurrent ? more.failure : undefined,
  };
}

/** The number of matches of a query whose first page is `first`; undefined while it is not known. */
function useTotal(key, query, { value: page, isLoading }) {
  const hasMore = page?.pagination.has_more === true;
  // The number stays while the next page is loaded.
  const counted = useRef();
  const isCounted = counted.current?.page === page;
  const { database } = query;
  const load = async (signal) => {
    const { operation, body } = requestOf(query, { limit: 1 });
    const { total } = await ask(database, operation, { key, body: { ...body, total: true }, signal });
    return { page, number: total.value };
  };
  const isWanted = hasMore && !isLoading && !isCounted;
  const { value } = useRequest(isWanted ? load : undefined, [page, isLoading], { delayMs: COUNT_DELAY_MS });
  if (value?.page === page) counted.current = value;
  if (!hasMore) return page?.results.length;
  return counted.current?.page === page ? counted.current.number : undefined;
}

/** Requests a page, with what the cards show: which rules held, and which passage of a long record matches best. */
async function requestPage({ key, database, operation, body, signal }) {
  const path = databasePath(database, `/${operation}`);
  const started = performance.now();
  const response = await send('POST', path, {
    key,
    body: JSON.stringify({ ...body, explain: true }),
    signal,
  });
  const page = await jsonOf(response, signal);
  return { ...page, ms: performance.now() - started, request: body, database };
}
