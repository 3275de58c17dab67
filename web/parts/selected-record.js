import { databasePath, sendJson } from '../api.js';
import { useRequest } from '../hooks/use-request.js';
import { html } from '../html.js';
import { useEffect, useMemo, useRef } from '../vendor/hooks.js';
import { searchedWords } from '../words.js';
import { Card, useOpened } from './card.js';

/** The record of a point of the map that is not on the pages so far. */
export function SelectedRecord({ service, query, point, request, embedded, onLike, onClose }) {
  const record = useRecord(service.key, query.database, point.id);
  const section = useRef();
  const [opened, toggle] = useOpened();
  const words = useMemo(() => searchedWords(request.search?.text ?? ''), [request]);
  useEffect(() => section.current?.querySelector('li.card')?.focus(), [record.value]);
  if (record.failure !== undefined) return html`<p class="fault" role="alert">${record.failure.message}</p>`;
  if (record.value === undefined || record.value.id !== point.id) return null;
  return html`<section ref=${section} class="selected" aria-label="Selected on the map">
    <p class="bar">
      <span class="muted">Selected on the map</span>
      <button class="quiet small" type="button" onClick=${onClose}>Close</button>
    </p>
    <ul class="results" role="list">
      <${Card}
        key=${point.id}
        record=${{ ...record.value, relevance_score: point.relevance_score }}
        request=${request}
        words=${words}
        embedded=${embedded}
        variant=${query.variant}
        isFirst=${true}
        opened=${opened.get(point.id)}
        onToggle=${toggle}
        onLike=${onLike}
      />
    </ul>
  </section>`;
}

/** One record by its id; nothing while `id` is undefined. */
function useRecord(key, database, id) {
  const load = (signal) =>
    sendJson('GET', databasePath(database, `/records/${encodeURIComponent(id)}`), { key, signal });
  return useRequest(id === undefined ? undefined : load, [key, database, id]);
}
