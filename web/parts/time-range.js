import { html, memo } from '../html.js';

/** The range of the time of the last sync, entered in local time. */
export const TimeRange = memo(({ from, to, faults, onChange }) => {
  const field = (name, label, value) => html`<label>
    ${label}
    <input
      type="datetime-local"
      step="1"
      value=${localOf(value)}
      onChange=${({ target }) => onChange({ [name]: target.value === '' ? '' : new Date(target.value).toISOString() })}
    />
  </label>`;
  return html`<fieldset class="panel">
    <legend>Last synced</legend>
    <div class="range">${field('from', 'From', from)}${field('to', 'To', to)}</div>
    ${faults.map((fault) => html`<p class="fault" role="alert">${fault}</p>`)}
  </fieldset>`;
});

/** A time as the input has it: local, without a zone. */
function localOf(time) {
  const date = new Date(time);
  if (time === '' || Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}
