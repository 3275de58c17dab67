import { html, memo } from '../html.js';

/** Columns that a request may name. */
const MAX_COLUMNS = 100;

/** The columns that results show, those that are chosen or all, and the column that is distinct. */
export const ShownColumns = memo(({ columns, shown, distinct, onChange }) => {
  const others = columns.filter(({ name }) => !shown.includes(name));
  const show = (names) => onChange({ columns: names });
  return html`<fieldset class="panel shown-columns">
    <legend>Columns</legend>
    <select
      aria-label="Show only"
      disabled=${others.length === 0 || shown.length === MAX_COLUMNS}
      value=""
      onChange=${({ target }) => {
        const { name } = others[Number(target.value)];
        target.value = '';
        show([...shown, name]);
      }}
    >
      <option value="" selected>${shown.length === 0 ? 'All; show only …' : 'Show also …'}</option>
      ${others.map(({ name }, at) => html`<option value=${at}>${name}</option>`)}
    </select>
    ${shown.map(
      (name) => html`<button
        type="button"
        class="quiet small"
        aria-label=${`Do not show ${name}`}
        onClick=${() => show(shown.filter((other) => other !== name))}
      >
        ${name} ×
      </button>`,
    )}
    <label>
      One result for each value of
      <select
        aria-label="One result for each value of"
        value=${distinct}
        onChange=${({ target }) => onChange({ distinct: target.value })}
      >
        <option value="" selected=${distinct === ''}>no column: all results</option>
        ${columns.map(({ name }) => html`<option value=${name} selected=${name === distinct}>${name}</option>`)}
      </select>
    </label>
  </fieldset>`;
});
