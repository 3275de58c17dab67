import { many } from '../format.js';
import { html } from '../html.js';
import { Passages } from './passages.js';

/**
 * The columns of a file that can be embedded with these types, and whether they are. A column of numbers or booleans has no
 * texts. Until the user chooses, those are embedded that say what a record is. `unread` is the number of values of a column
 * that are no texts, which no search reads.
 */
export function embeddable(content, types, chosen) {
  const typeOf = new Map(content.columns.map(({ name, type }) => [name, types[name] ?? type]));
  return content.texts
    .map((column) => ({ ...column, type: typeOf.get(column.name) }))
    .filter(({ type, isText }) => ['text', 'list'].includes(type) || (type === undefined && isText))
    .map(({ name, type, others, isTelling }) => ({
      name,
      isEmbedded: chosen.get(name) ?? isTelling,
      unread: type === undefined ? others : 0,
    }));
}

/** What a new database searches: the columns that are embedded, and whether exact words count, too. */
export function Embedding({ columns, isLexical, passages, fault, onChoose, onLexical, onPassages }) {
  if (columns.length === 0) {
    return html`<p class="muted">No column has texts, so the records can be listed, but not searched by meaning.</p>`;
  }
  return html`<fieldset class="embedding">
    <legend>Search by meaning in</legend>
    <p class="checks">
      ${columns.map(
        ({ name, isEmbedded }) => html`<label key=${name}>
          <input
            type="checkbox"
            checked=${isEmbedded}
            aria-invalid=${fault !== undefined}
            onChange=${({ target }) => onChoose(name, target.checked)}
          />
          <span>${name}</span>
        </label>`,
      )}
    </p>
    <p class="muted">
      Choose the columns that say what a record is: ids, codes, dates and addresses make the results worse. The choice can
      be changed later. Filters and facets have every column.
    </p>
    ${columns
      .filter(({ isEmbedded, unread }) => isEmbedded && unread > 0)
      .map(
        ({ name, unread }) => html`<p class="fault">
          ${many(unread, 'value')} of ${name} ${unread === 1 ? 'is a number or a boolean' : 'are numbers or booleans'}: no
          search reads ${unread === 1 ? 'it' : 'them'}, unless the type of the column is text.
        </p>`,
      )}
    ${fault && html`<p class="fault" role="alert">${fault}</p>`}
    <p class="checks">
      <label>
        <input type="checkbox" checked=${isLexical} onChange=${({ target }) => onLexical(target.checked)} />
        <span>Also search exact words</span>
      </label>
    </p>
    <p class="muted">
      Finds names, numbers and misspelt words, and takes memory. It can be switched on and off later.
    </p>
    <${Passages} values=${passages} onChange=${onPassages} />
  </fieldset>`;
}

/** What a database that exists searches. */
export function ExistingEmbedding({ database, content }) {
  const { id, model, embed } = database;
  if (embed === undefined) return null;
  if (model === null)
    return html`<p class="muted">${id} has no model: its records bring their own vectors.</p>`;
  const { columns } = embed;
  if (columns === undefined) return html`<p class="muted">${id} is searched by meaning in every text.</p>`;
  const isPresent = content.columns.some(({ name }) => columns.includes(name));
  return html`<p class="muted">${id} is searched by meaning in ${columns.join(', ')}.</p>
    ${!isPresent && html`<p class="fault" role="alert">The file has none of these columns, so no search will find its records.</p>`}`;
}
