import { html } from '../html.js';

/** The members of the setting `embed.passages`, with their limits and what they are by default. */
const MEMBERS = [
  { name: 'per_record', label: 'Passages of a record, at most', min: 1, max: 4096, standard: '64' },
  { name: 'tokens', label: 'Tokens of a passage', min: 16, max: 65536, standard: 'half of the window' },
  { name: 'overlap', label: 'Tokens that a passage repeats', min: 0, max: 32768, standard: 'an eighth' },
];

/** How long texts are split. `values` are the texts of the fields by member. */
export function Passages({ values, isOpen = false, onChange }) {
  return html`<details class="passages" open=${isOpen}>
    <summary>Long texts</summary>
    <div class="choices">
      ${MEMBERS.map(
        ({ name, label, min, max, standard }) => html`<label key=${name}>
          ${label}
          <input
            type="number"
            min=${min}
            max=${max}
            placeholder=${standard}
            value=${values[name] ?? ''}
            onInput=${({ target }) => onChange({ ...values, [name]: target.value })}
          />
        </label>`,
      )}
    </div>
    <p class="muted">A text that is longer than the window of the model is split into passages, and each has its own vector.</p>
  </details>`;
}

/** The setting `embed.passages` of the fields; undefined if all are empty. */
export function passagesOf(values) {
  const given = MEMBERS.filter(({ name }) => (values[name] ?? '') !== '');
  return given.length === 0
    ? undefined
    : Object.fromEntries(given.map(({ name }) => [name, Number(values[name])]));
}

/** The change that makes the setting `embed.passages` that of the fields. */
export function passagesPatchOf(values) {
  return Object.fromEntries(
    MEMBERS.map(({ name }) => [name, (values[name] ?? '') === '' ? null : Number(values[name])]),
  );
}
