import { fragmentOf, queryOf } from '../query.js';
import { useCallback, useEffect, useState } from '../vendor/hooks.js';

/** Browsers refuse to change the address for every letter. */
const DELAY_MS = 400;

/**
 * The query of the page, which the address restores.
 *
 * @returns {[object, (change: object) => void]} the query, and a function that changes some of its members
 */
export function useQuery(onHashChange) {
  const [query, setQuery] = useState(() => queryOf(location.hash));
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
      setQuery(queryOf(location.hash));
    };
    addEventListener('hashchange', restore);
    return () => removeEventListener('hashchange', restore);
  }, []);
  const change = useCallback((changes) => {
    setQuery((before) => ({ ...before, ...(typeof changes === 'function' ? changes(before) : changes) }));
  }, []);
  return [query, change];
}
