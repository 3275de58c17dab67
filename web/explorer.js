import { UNREACHABLE } from './api.js';
import { columnsOf, embeddedColumns, merged, titleColumn } from './columns.js';
import { useFacets } from './hooks/use-facets.js';
import { useScoreHistogram } from './hooks/use-score-histogram.js';
import { useSearch } from './hooks/use-search.js';
import { html } from './html.js';
import { Copy } from './parts/copy.js';
import { Facets } from './parts/facets.js';
import { Filter } from './parts/filter.js';
import { MatchMap } from './parts/map.js';
import { ResultLine } from './parts/result-line.js';
import { Results } from './parts/results.js';
import { SearchForm } from './parts/search-form.js';
import { SelectedRecord } from './parts/selected-record.js';
import { ShownColumns } from './parts/shown-columns.js';
import { EmptyResults, SearchFailure } from './parts/states.js';
import { Threshold } from './parts/threshold.js';
import { TimeRange } from './parts/time-range.js';
import { faultsOf } from './problems.js';
import { isSearchOf, thresholdOf, withDefaults } from './query.js';
import { useCallback, useEffect, useMemo, useRef, useState } from './vendor/hooks.js';

const RETRY_MS = 2_000;

/** Search, filter and results of a database. `change` is the same function in every call, so that few parts are rendered. */
export function Explorer({ service, asked, change }) {
  const { key, rights, databases } = service;
  const description = databases.find(({ id }) => id === asked.query.database);
  const hasModel = description?.model !== null;
  // The text stays in the address, for the next database that has a model.
  const possible = (query) =>
    withDefaults(hasModel ? query : { ...query, text: '', passages: '' }, description);
  const defaults = JSON.stringify(description?.defaults);
  const shown = useMemo(() => possible(asked.query), [asked.query, hasModel, defaults]);
  const query = useMemo(() => possible(asked.settled), [asked.settled, hasModel, defaults]);
  const input = useRef();
  const main = useRef();
  const [areFiltersOpen, setFiltersOpen] = useState(false);
  const search = useSearch(key, query, databases);
  const embedded = embeddedColumns(description);
  const columns = useColumns(query.database, description, search.results);
  const isUp = search.failure === undefined;
  const histogram = useScoreHistogram(key, query, { revision: databases, isEnabled: isUp });
  const facets = useFacets(key, query, columns, {
    revision: databases,
    isEnabled: isUp && columns.length > 0,
  });
  const faults = useMemo(
    () => faultsOf(search.failure, search.pointers),
    [search.failure, !isUp && search.pointers],
  );

  useEffect(() => {
    if (search.failure?.status === 401) service.reload();
    if (search.failure?.code !== UNREACHABLE && search.failure?.code !== 'not_ready') return undefined;
    const timer = setTimeout(search.reload, RETRY_MS);
    return () => clearTimeout(timer);
  }, [search.failure]);
  useEffect(() => {
    const focus = (event) => {
      if (event.key !== '/' || event.target.closest('input, select, textarea, dialog')) return;
      event.preventDefault();
      input.current.focus();
    };
    addEventListener('keydown', focus);
    return () => removeEventListener('keydown', focus);
  }, []);

  const isSearch = isSearchOf(query);
  const showLike = useCallback((id) => change({ like: String(id), text: '' }), [change]);
  const count = shown.filter.rules.length;
  const isMapShown = rights.map && query.map !== '';
  const [selected, setSelected] = useState();
  useEffect(() => setSelected(undefined), [search.value]);
  const showRecord = (point) => {
    const at = search.results.findIndex(({ id }) => id === point.id);
    setSelected(at < 0 ? point : undefined);
    if (at >= 0) main.current.querySelectorAll('[aria-label=Results] > li.card')[at].focus();
  };
  return html`<main class="explorer" ref=${main}>
    <${SearchForm}
      query=${shown}
      columns=${columns}
      hasModel=${hasModel}
      input=${input}
      onChange=${change}
      onSearch=${asked.settle}
      onEnterResults=${() => main.current.querySelector('li.card')?.focus()}
    />
    <button
      type="button"
      class="toggle-filters"
      aria-expanded=${areFiltersOpen}
      aria-controls="filters"
      onClick=${() => setFiltersOpen(!areFiltersOpen)}
    >
      ${areFiltersOpen ? 'Hide filters' : 'Threshold, rules and facets'}${count > 0 ? ` (${count})` : ''}
    </button>
    <aside id="filters" class=${areFiltersOpen ? 'open' : ''} aria-label="Narrow the results">
      ${
        (hasModel || shown.like !== '') &&
        html`<${Threshold}
          value=${thresholdOf(query)}
          isUsed=${isSearch}
          histogram=${histogram}
          description=${description}
          lexical=${shown.like === '' && (description?.lexical || query.lexical > 0) ? (query.lexical ?? 0) : undefined}
          onChange=${change}
        />`
      }
      <${Filter} root=${shown.filter} columns=${columns} faults=${faults.byNode} onChange=${change} />
      <${TimeRange} from=${query.from} to=${query.to} faults=${faults.timeRange} onChange=${change} />
      <${ShownColumns} columns=${columns} shown=${shown.columns} distinct=${shown.distinct} onChange=${change} />
      ${
        facets?.length > 0 &&
        html`<${Facets} facets=${facets} filter=${shown.filter} from=${query.from} to=${query.to} onChange=${change} />`
      }
    </aside>
    <section class="found" aria-label="Matches">
      <div class="bar">
        <${ResultLine} search=${search} />
        <span class="tools">
          ${
            rights.map &&
            html`<button type="button" class="segment" aria-expanded=${isMapShown} onClick=${() => change({ map: isMapShown ? '' : 'shown' })}>
            Map
          </button>`
          }
          <${Copy} query=${shown} />
        </span>
      </div>
      ${
        isMapShown &&
        isUp &&
        html`<${MatchMap}
          service=${service}
          query=${query}
          columns=${columns}
          title=${titleColumn(search.results[0]?.data ?? {}, embedded)}
          isEnabled=${search.value !== undefined}
          onColour=${(colour) => change({ colour })}
          onShow=${showRecord}
        />`
      }
      ${
        selected !== undefined &&
        search.value !== undefined &&
        html`<${SelectedRecord}
          service=${service}
          query=${query}
          point=${selected}
          request=${search.value.request}
          embedded=${embedded}
          onLike=${showLike}
          onClose=${() => setSelected(undefined)}
        />`
      }
      ${
        search.failure !== undefined
          ? html`<${SearchFailure} failure=${search.failure} faults=${faults} query=${query} onRetry=${search.reload} />`
          : search.value !== undefined &&
            (
              search.results.length > 0
                ? html`<${Results} key=${search.value.database} search=${search} variant=${query.variant} embedded=${embedded} onLike=${showLike} onLeave=${() => input.current.focus()} />`
                : !search.isLoading &&
                  html`<${EmptyResults} query=${query} best=${histogram?.best} description=${description} onChange=${change} />`
            )
      }
    </section>
  </main>`;
}

/** The columns of a database. Without a description, a column stays known when the results no longer have it. */
function useColumns(database, description, results) {
  const known = useRef({ columns: [] });
  return useMemo(() => {
    const before = known.current.database === database ? known.current.columns : [];
    const columns = merged(before, columnsOf(description, results));
    // The same list, if nothing is new in it.
    const isSame = JSON.stringify(columns) === JSON.stringify(before);
    known.current = { database, columns: isSame ? before : columns };
    return known.current.columns;
  }, [database, description, results]);
}
