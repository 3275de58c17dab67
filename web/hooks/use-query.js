import { fragmentOf, queryOf } from '../query.js';
import { useCallback, useEffect, useState } from '../vendor/hooks.js';

/** Browsers refuse to change the address for every letter. */
const DELAY_MS = 400;
/** Longer than the time between two letters of most people who type. */
const PAUSE_MS = 250;

/**
 * The query of the page, which the address restores.
 *
 * @returns {{ query: object, settled: object, change: (changes: object, options?: { isTyped?: boolean }) => void, settle: () => void }}
 * the query as it is shown; the one to request, which follows what is typed after a pause and other changes at once; a
 * function that changes some members; and one that ends the pause
 */
export function useQuery(onHashChange) {
  const [{ query, settled }, setState] = useState(() => settledOn(queryOf(location.hash)));
  const fragment = fragmentOf(query);
  useEffect(() => {
    const timer = setTimeout(() => {
      const address = location.pathname + location.search + (fragment === '' ? '' : `#${fragment}`);
      if (location.hash.slice(1) !== fragment) history.replaceState(null, '', address);
    }, DELAY_MS);
    return () => clearTimeout(timer);
  }, [fragment]);
  useEffect(() => {
    // A link of this page that is opened in its own tab.
    const restore = () => {
      onHashChange();
      setState(settledOn(queryOf(location.hash)));
    };
    addEventListener('hashchange', restore);
    return () => removeEventListener('hashchange', restore);
  }, []);
  const change = useCallback((changes, { isTyped = false } = {}) => {
    setState((before) => {
      const own = typeof changes === 'function' ? changes(before.query) : changes;
      const query = { ...before.query, ...own };
      return { query, settled: isTyped ? before.settled : query };
    });
  }, []);
  const settle = useCallback(() => setState(({ query }) => settledOn(query)), []);
  useEffect(() => {
    if (query === settled) return undefined;
    const timer = setTimeout(settle, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [query, settled]);
  return { query, settled, change, settle };
}

const settledOn = (query) => ({ query, settled: query });
