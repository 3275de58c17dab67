import { html, memo } from '../html.js';
import { FilterBuilder } from './filter-builder.js';
import { FilterJson } from './filter-json.js';

/** The filter as rules, and as JSON. */
export const Filter = memo(({ root, columns, faults, onChange }) => {
  const change = (filter, options) => onChange({ filter }, options);
  return html`<fieldset class="panel filter">
    <legend>Filter</legend>
    <${FilterBuilder} root=${root} columns=${columns} faults=${faults} onChange=${change} />
    <${FilterJson} root=${root} onChange=${change} />
  </fieldset>`;
});
