import { count } from '../format.js';
import { html, memo } from '../html.js';

/** The name of the page, the database, and what else there is. */
export const Header = memo(({ databases = [], database, rights, onDatabase, onOpen }) => {
  const isListed = databases.some(({ id }) => id === database);
  return html`<header class="top">
    <h1><a class="brand" href="./"><img src=${icon()} alt="" width="22" height="22" />cosift</a></h1>
    ${
      rights !== undefined &&
      html`<label class="database">
      <span class="hidden">Database</span>
      <select aria-label="Database" value=${database} onChange=${({ target }) => onDatabase(target.value)}>
        ${!isListed && html`<option value=${database}>${database === '' ? 'Choose a database' : database}</option>`}
        ${databases.map(
          ({ id, records }) =>
            html`<option value=${id} selected=${id === database}>
              ${id}${records === undefined ? '' : ` · ${count(records)}`}
            </option>`,
        )}
      </select>
    </label>`
    }
    <nav aria-label="Page">
      ${rights?.write && html`<button class="quiet" type="button" onClick=${() => onOpen('import')}>Import</button>`}
      ${
        rights !== undefined &&
        html`<button class="quiet" type="button" onClick=${() => onOpen('databases')}>Databases</button>`
      }
      ${rights !== undefined && html`<button class="quiet" type="button" onClick=${() => onOpen('key')}>Key</button>`}
      <a class="quiet" href="docs">API</a>
    </nav>
  </header>`;
});

const icon = () => document.querySelector('link[rel=icon]').href;
