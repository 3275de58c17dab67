import { html } from '../html.js';
import { useState } from '../vendor/hooks.js';
import { Dialog } from './dialog.js';

/** What an HTTP header can carry. */
const KEY = /^[\x21-\x7e]+$/;

/** Where a key is entered. It stays in this tab. */
export function KeyForm({ failure, onKey }) {
  const [text, setText] = useState('');
  const [fault, setFault] = useState();
  const submit = (event) => {
    event.preventDefault();
    const key = text.trim();
    if (KEY.test(key)) onKey(key);
    else setFault(key === '' ? 'Enter a key.' : 'A key has only printable characters and no spaces.');
  };
  const shown = fault ?? failure?.message;
  return html`<form class="key-form" onSubmit=${submit}>
    <h2>Enter a key</h2>
    <p>
      Every request needs a key of the service. The first start prints the admin key, and keeps it in the file${' '}
      <code>admin.key</code> of the data directory. <code>cosift key create</code> makes keys with fewer rights.
    </p>
    <label for="key">Key</label>
    <div class="row">
      <input
        id="key"
        type="password"
        autocomplete="off"
        spellcheck="false"
        aria-invalid=${shown !== undefined}
        aria-describedby="key-fault"
        value=${text}
        onInput=${({ target }) => {
          setText(target.value);
          setFault(undefined);
        }}
      />
      <button class="primary" type="submit">Use this key</button>
    </div>
    <p id="key-fault" class="fault" aria-live="polite">${shown}</p>
    <p class="muted">The key stays in this tab, and is forgotten when the tab is closed.</p>
  </form>`;
}

/** Asks whether the key of a link replaces that of the tab. */
export function OfferedKey({ rights, onUse, onKeep }) {
  const name = rights === undefined ? '' : html`, “${rights.name}”`;
  return html`<${Dialog} title="The link has another key" onClose=${onKeep}>
    <p>
      This tab has a key already${name}. With the key of the link, the page shows what that key may see, and what you import is
      stored in databases that others with this key can read.
    </p>
    <p class="muted">Use it only if you know who made the link.</p>
    <p class="actions">
      <button class="primary" type="button" onClick=${onKeep}>Keep my key</button>
      <button type="button" onClick=${onUse}>Use the key of the link</button>
    </p>
  <//>`;
}

/** What the key of the tab may do. */
export function OwnKey({ rights, onForget }) {
  return html`<dl class="facts">
      <dt>Name</dt>
      <dd>${rights.name}</dd>
      <dt>May do</dt>
      <dd>${rights.actions.map((action) => html`<code class="chip">${action}</code> `)}</dd>
      <dt>Sees</dt>
      <dd>
        ${rights.all ? 'all databases' : 'the databases listed at the top'}${
          rights.filtered ? ', and there only the records that pass its filter' : ''
        }
      </dd>
      <dt>Expires</dt>
      <dd>${rights.expires === undefined ? 'never' : new Date(rights.expires).toLocaleString()}</dd>
    </dl>
    <p class="actions"><button type="button" onClick=${onForget}>Forget this key</button></p>`;
}
