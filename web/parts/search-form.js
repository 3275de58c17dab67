import { html } from '../html.js';
import { isSearchOf, PASSAGES } from '../query.js';
import { VARIANTS } from '../variants.js';

/** The text of the search, and how records are shown. */
export function SearchForm({ query, columns, hasModel, input, onChange, onSearch, onEnterResults }) {
  const isListing = !isSearchOf(query);
  const move = (event) => {
    if (event.key !== 'ArrowDown') return;
    event.preventDefault();
    onEnterResults();
  };
  const submit = (event) => {
    event.preventDefault();
    onSearch();
  };
  return html`<form class="search" role="search" aria-label="Records" onSubmit=${submit}>
    <input
      ref=${input}
      type="search"
      aria-label="Search"
      placeholder=${hasModel ? 'Search by meaning' : 'This database has no model: only listings'}
      autocomplete="off"
      autofocus
      disabled=${!hasModel}
      value=${query.text}
      onInput=${({ target }) => onChange({ text: target.value, like: '' }, { isTyped: true })}
      onKeyDown=${move}
    />
    <div class="tools">
      ${
        query.like !== '' &&
        html`<span class="like">
        More like #${query.like}
        <button class="quiet small" type="button" onClick=${() => onChange({ like: '' })}>Clear</button>
      </span>`
      }
      <span class="segments" role="group" aria-label="Variant">
        ${Object.entries(VARIANTS).map(
          ([variant, { ids }]) =>
            html`<button
              type="button"
              class="segment"
              aria-pressed=${query.variant === variant}
              title=${`Variant ${variant}: ${ids}`}
              onClick=${() => onChange({ variant })}
            >
              ${variant}<span class="wide-only"> · ${ids}</span>
            </button>`,
        )}
      </span>
      ${
        !isListing &&
        hasModel &&
        html`<label class="sort">
        <span class="muted">Passages</span>
        <select aria-label="Passages" value=${query.passages} onChange=${({ target }) => onChange({ passages: target.value })}>
          ${['', ...PASSAGES].map(
            (count) =>
              html`<option value=${count} selected=${count === query.passages}>${count === '' ? 'the best' : `the best ${count}`}</option>`,
          )}
        </select>
      </label>`
      }
      ${
        isListing &&
        html`<label class="sort">
        <span class="muted">Sort by</span>
        <select aria-label="Sort by" value=${query.sort} onChange=${({ target }) => onChange({ sort: target.value })}>
          <option value="" selected=${query.sort === ''}>last synced first</option>
          ${['created', 'changed', 'synced'].map(
            (time) =>
              html`<option value=${`@${time}`} selected=${query.sort === `@${time}`}>time ${time}</option>`,
          )}
          ${columns.map(({ name }) => html`<option value=${name} selected=${name === query.sort}>${name}</option>`)}
        </select>
        <button
          type="button"
          class="quiet"
          disabled=${query.sort === ''}
          aria-label=${query.direction === 'asc' ? 'Ascending; change to descending' : 'Descending; change to ascending'}
          onClick=${() => onChange({ direction: query.direction === 'asc' ? 'desc' : 'asc' })}
        >
          ${query.direction === 'asc' ? '↑' : '↓'}
        </button>
      </label>`
      }
    </div>
  </form>`;
}
