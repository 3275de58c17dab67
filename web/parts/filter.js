import { filterFromJson, newGroup, requestFilter } from '../filter.js';
import { html, memo } from '../html.js';
import { useState } from '../vendor/hooks.js';
import { FilterBuilder } from './filter-builder.js';

/** The filter as rules, and as JSON. */
export const Filter = memo(({ root, columns, faults, onChange }) => {
  const change = (filter, options) => onChange({ filter }, options);
  return html`<fieldset class="panel filter">
    <legend>Filter</legend>
    <${FilterBuilder} root=${root} columns=${columns} faults=${faults} onChange=${change} />
    <${FilterJson} root=${root} onChange=${change} />
  </fieldset>`;
});

/** The filter as JSON. What is typed becomes the rules of the builder as soon as it is valid. */
function FilterJson({ root, onChange }) {
  const { filter } = requestFilter(root);
  const current = filter === undefined ? '' : JSON.stringify(filter, null, 2);
  /** What is being typed; undefined while the text is that of the builder. */
  const [typed, setTyped] = useState();
  const [fault, setFault] = useState();
  const type = (text) => {
    setTyped(text);
    try {
      const filter = text.trim() === '' ? newGroup() : filterFromJson(JSON.parse(text));
      onChange(filter, { isTyped: true });
      setFault(undefined);
    } catch (error) {
      setFault(error instanceof SyntaxError ? `This is not JSON: ${error.message}` : error.message);
    }
  };
  const leave = () => {
    if (fault === undefined) setTyped(undefined);
  };
  const text = typed ?? current;
  return html`<details class="json">
    <summary>JSON</summary>
    <textarea
      aria-label="Filter as JSON"
      spellcheck="false"
      rows=${Math.min(16, Math.max(4, text.split('\n').length))}
      placeholder='{"rules":[{"column":"year","operator":"less_than","value":1900}]}'
      aria-invalid=${fault !== undefined}
      value=${text}
      onInput=${({ target }) => type(target.value)}
      onBlur=${leave}
    ></textarea>
    <p class="fault" aria-live="polite">${fault}</p>
  </details>`;
}
