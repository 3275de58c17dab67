import { newGroup } from '../filter.js';
import { html } from '../html.js';
import { isSearchOf, thresholdOf } from '../query.js';
import { useState } from '../vendor/hooks.js';

/** The service does not respond, or is not ready yet. The page tries again by itself. */
export function ServiceDown({ failure, onRetry }) {
  const isStarting = failure.code === 'not_ready';
  return html`<${Notice}
    kind="error"
    title=${isStarting ? 'The service is starting' : 'No connection to the service'}
    actions=${[{ text: 'Try again now', run: onRetry }]}
  >
    <p>${failure.message}</p>
    <p class="muted">The page tries again every two seconds.</p>
  <//>`;
}

/** There is nothing to search yet. */
export function NoDatabase({ rights, onOpen, onChoose }) {
  const [id, setId] = useState('');
  if (!rights.describe && rights.all) {
    const submit = (event) => {
      event.preventDefault();
      if (id.trim() !== '') onChoose(id.trim());
    };
    return html`<${Notice} title="Name a database">
      <p>This key cannot list databases. Enter the name of one.</p>
      <form class="row" onSubmit=${submit}>
        <input aria-label="Name of the database" spellcheck="false" value=${id} onInput=${({ target }) => setId(target.value)} />
        <button class="primary" type="submit">Open</button>
      </form>
    <//>`;
  }
  return html`<${Notice}
    title="There is no database yet"
    actions=${rights.write ? [{ text: 'Import a file', run: () => onOpen('import') }] : []}
  >
    <p>
      ${
        rights.write
          ? 'Import a CSV, NDJSON or JSON file: drop it anywhere on this page.'
          : 'Ask for a key that may write records, or import a file with the command line.'
      }
    </p>
    <p class="muted">
      <code>cosift import products.csv --database products</code> does the same, and${' '}
      <code>cosift serve --demo</code> starts with a few hundred facts.
    </p>
  <//>`;
}

/** The key may do other things. */
export function NotAllowed({ rights, onOpen }) {
  return html`<${Notice}
    title="This key may not search"
    actions=${rights.write ? [{ text: 'Import a file', run: () => onOpen('import') }] : []}
  >
    <p>It has the rights ${rights.actions.map((action) => html`<code>${action}</code> `)}. Searching needs <code>search</code>.</p>
  <//>`;
}

/** A request that failed, and what can be done. */
export function SearchFailure({ failure, faults: { byNode, timeRange, others }, query, onRetry }) {
  if (failure.code === 'database_not_found') {
    return html`<${Notice} kind="error" title=${`There is no database “${query.database}”`}>
      <p>Choose another one at the top.</p>
    <//>`;
  }
  if (failure.status === 0 || failure.code === 'not_ready') {
    return html`<${ServiceDown} failure=${failure} onRetry=${onRetry} />`;
  }
  const isRequest = failure.status === 400;
  const isShown = others.length === 0 && (byNode.size > 0 || timeRange.length > 0);
  return html`<${Notice}
    kind="error"
    title=${isRequest ? 'The service refuses the request' : 'The request failed'}
    actions=${isRequest ? [] : [{ text: 'Try again', run: onRetry }]}
  >
    <p>
      ${
        isShown
          ? 'The reasons are shown at the rules or the times that they are about.'
          : others.length > 0
            ? others.join('; ')
            : failure.message
      }
    </p>
  <//>`;
}

/** No record matches. */
export function EmptyResults({ query, best, description, onChange }) {
  const isSearch = isSearchOf(query);
  const isFiltered = query.filter.rules.length > 0 || query.from !== '' || query.to !== '';
  const lower = best === undefined ? undefined : Math.max(0, Math.floor(best * 20 - 1) / 20);
  const actions = [
    ...(isSearch && lower !== undefined && lower < thresholdOf(query)
      ? [{ text: `Lower the threshold to ${lower.toFixed(2)}`, run: () => onChange({ threshold: lower }) }]
      : []),
    ...(isFiltered
      ? [{ text: 'Remove the filter', run: () => onChange({ filter: newGroup(), from: '', to: '' }) }]
      : []),
  ];
  if (description?.records === 0) {
    return html`<${Notice} title="The database has no records">
      <p>Import a file, or upsert records with the <a href="docs">API</a>.</p>
    <//>`;
  }
  return html`<${Notice} title="No match" actions=${actions}>
    <p>
      ${
        isSearch && best !== undefined
          ? `The best score is ${best.toFixed(3)}, and the threshold is ${thresholdOf(query).toFixed(2)}.`
          : 'No record passes the filter and the time range.'
      }
    </p>
  <//>`;
}

/** What the page says when there is nothing to show, and the next step. */
function Notice({ title, children, kind = 'plain', actions = [] }) {
  return html`<section class=${`notice ${kind}`} role=${kind === 'error' ? 'alert' : undefined}>
    <h2>${title}</h2>
    <div>${children}</div>
    ${
      actions.length > 0 &&
      html`<p class="actions">
      ${actions.map(({ text, run }) => html`<button type="button" onClick=${run}>${text}</button>`)}
    </p>`
    }
  </section>`;
}
