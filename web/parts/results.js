import { html } from '../html.js';
import { useLayoutEffect, useMemo, useRef } from '../vendor/hooks.js';
import { searchedWords } from '../words.js';
import { Card, useOpened } from './card.js';

/** The results of all pages so far. Arrow keys move between them, and Escape goes back to the search. */
export function Results({ search, variant, embedded, onLike, onLeave }) {
  const { results, value } = search;
  const words = useMemo(() => searchedWords(value.request.search?.text ?? ''), [value]);
  const [opened, toggle] = useOpened();
  const list = useRef();
  /** How many results there were when more were asked for. */
  const shown = useRef();
  const loadMore = () => {
    shown.current = results.length;
    search.loadMore();
  };
  // The keyboard goes on at the first new result. On the last page, the button is gone and the focus with it.
  useLayoutEffect(() => {
    if (shown.current === undefined || results.length <= shown.current) return;
    if (document.activeElement.matches('body, .more > button')) list.current.children[shown.current].focus();
    shown.current = undefined;
  }, [results]);
  const move = (event) => {
    if (event.target.closest('input, select, textarea')) return;
    const cards = [...event.currentTarget.children];
    const current = cards.indexOf(document.activeElement?.closest('li.card'));
    const target = {
      ArrowDown: Math.min(current + 1, cards.length - 1),
      ArrowUp: current - 1,
      Home: 0,
      End: cards.length - 1,
      Escape: -1,
    }[event.key];
    if (target === undefined) return;
    event.preventDefault();
    if (target < 0) onLeave();
    else cards[target].focus();
  };
  // A card has no key: changing the texts of its elements takes less time than making others for another record.
  return html`<ul ref=${list} class="results" role="list" aria-label="Results" aria-busy=${search.isLoading} onKeyDown=${move}>
      ${results.map(
        (record, at) =>
          html`<${Card}
            record=${record}
            at=${at}
            request=${value.request}
            words=${words}
            embedded=${embedded}
            variant=${variant}
            isFirst=${at === 0}
            opened=${opened.get(record.id)}
            onToggle=${toggle}
            onLike=${onLike}
          />`,
      )}
    </ul>
    ${search.failureOfMore !== undefined && html`<p class="fault" role="alert">${search.failureOfMore.message}</p>`}
    ${
      search.hasMore &&
      html`<p class="more">
      <button type="button" aria-disabled=${search.isLoadingMore} onClick=${loadMore}>Load more</button>
    </p>`
    }
    ${!search.hasMore && results.length > 0 && html`<p class="end muted">End of the results</p>`}`;
}
