import { html, memo } from '../html.js';

/** Columns that a request may name. */
const MAX_COLUMNS = 100;

/** The columns that results show: those that are chosen, or all. */
export const ShownColumns = memo(({ columns, shown, onChange }) => {
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
  </fieldset>`;
});
