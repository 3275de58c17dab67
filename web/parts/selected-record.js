import { useRecord } from '../hooks/use-record.js';
import { html } from '../html.js';
import { useEffect, useRef } from '../vendor/hooks.js';
import { Card, useOpened } from './card.js';

/** The record of a point of the map that is not on the pages so far. */
export function SelectedRecord({ service, query, point, request, stems, onClose }) {
  const record = useRecord(service.key, query.database, point.id);
  const section = useRef();
  const [opened, toggle] = useOpened();
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
        stems=${stems}
        variant=${query.variant}
        isFirst=${true}
        opened=${opened.get(point.id)}
        onToggle=${toggle}
      />
    </ul>
  </section>`;
}
