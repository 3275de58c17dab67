import { databasePath, sendJson } from '../api.js';
import { ago, bytes, count, many } from '../format.js';
import { useRequest } from '../hooks/use-request.js';
import { html } from '../html.js';
import { useEffect, useLayoutEffect, useRef, useState } from '../vendor/hooks.js';
import { Dialog } from './dialog.js';
import { Passages, passagesPatchOf } from './passages.js';
import { Sources } from './sources.js';

/** The databases that the key may see. */
export function Databases({ service, onChoose, onDropped, onImport, onClose }) {
  const { key, rights, databases = [] } = service;
  const health = useRequest((signal) => sendJson('GET', 'readyz', { key, signal }), []);
  const problems = health.value?.reasons ?? [];
  const [dropped, setDropped] = useState('');
  const state = useRef();
  // Databases may have been created or deleted elsewhere.
  useEffect(() => service.reload(), []);
  return html`<${Dialog} title="Databases" wide=${true} onClose=${onClose}>
    <p ref=${state} class="muted" role="status" tabindex="-1">${dropped && `The database ${dropped} is deleted.`}</p>
    ${problems.map((problem) => html`<p class="fault" role="alert">${problem}</p>`)}
    ${
      databases.length === 0
        ? html`<p class="muted">
            ${rights.describe || !rights.all ? 'There is no database yet.' : 'This key cannot list databases.'}
          </p>`
        : html`<ul class="databases">
          ${databases.map(
            (database) =>
              html`<${Database}
                key=${database.id}
                database=${database}
                mayChange=${rights.create}
                onChoose=${() => onChoose(database.id)}
                change=${async (changes) => {
                  const body = await sendJson('PATCH', databasePath(database.id), {
                    key,
                    body: changes,
                  });
                  service.reload();
                  return body;
                }}
                drop=${async () => {
                  await sendJson('DELETE', databasePath(database.id), { key });
                  setDropped(database.id);
                  // The element with the focus goes away.
                  state.current.focus();
                  onDropped(database.id);
                }}
              />`,
          )}
        </ul>`
    }
    ${rights.create && html`<${Sources} apiKey=${key} onRecords=${service.reload} />`}
    ${rights.write && html`<p class="actions"><button type="button" onClick=${onImport}>Import a file</button></p>`}
  <//>`;
}

function Database({ database, mayChange, onChoose, change, drop }) {
  const [isDropping, setDropping] = useState(false);
  const [isChanging, setChanging] = useState(false);
  const button = useRef();
  const wasDropping = useRef(false);
  // The button and the form replace each other.
  useLayoutEffect(() => {
    if (wasDropping.current && !isDropping) button.current.focus();
    wasDropping.current = isDropping;
  }, [isDropping]);
  const { id, aliases = [], records, model, dimensions, sizes, times, reembedding } = database;
  return html`<li>
    <div class="row">
      <button class="link" type="button" onClick=${onChoose}>${id}</button>
      <span class="state">${records !== undefined && stateOf(database)}</span>
    </div>
    ${
      records !== undefined &&
      html`<p class="muted facts-line">
      ${aliases.length > 0 && html`<span>also called ${aliases.join(', ')}</span>`}
      <span>${many(records, 'record')}</span>
      <span>${model ?? 'vectors of your own'}, ${dimensions} dimensions</span>
      <span>${bytes(sizes.disk_bytes)} on disk</span>
      <span>${bytes(sizes.memory_bytes)} in memory</span>
      <span>written ${ago(times.last_write_at)}</span>
    </p>`
    }
    ${reembedding?.problem !== undefined && html`<p class="fault">${reembedding.problem.detail}</p>`}
    ${
      mayChange &&
      records !== undefined &&
      html`<button class="quiet small" type="button" aria-expanded=${isChanging} aria-label=${`Settings of ${id}`} onClick=${() => setChanging(!isChanging)}>Settings…</button>`
    }
    ${isChanging && html`<${Settings} database=${database} change=${change} onClose=${() => setChanging(false)} />`}
    ${
      mayChange &&
      !isDropping &&
      html`<button ref=${button} class="quiet small" type="button" aria-label=${`Delete ${id}`} onClick=${() => setDropping(true)}>Delete…</button>`
    }
    ${isDropping && html`<${Confirmation} id=${id} drop=${drop} onCancel=${() => setDropping(false)} />`}
  </li>`;
}

function stateOf({ reembedding }) {
  if (reembedding !== undefined && reembedding.state !== 'done') {
    return `${reembedding.state}: ${count(reembedding.done)} of ${count(reembedding.records)} embedded with ${reembedding.model}`;
  }
  return 'ready';
}

/** Settings of a database that can be changed here. A change that needs other vectors is made in the background. */
function Settings({ database, change, onClose }) {
  const { id, model, embed, flatten = false } = database;
  const before = embed?.passages ?? {};
  const [passages, setPassages] = useState(before);
  const [isFlat, setFlat] = useState(flatten);
  const [failure, setFailure] = useState();
  const submit = async (event) => {
    event.preventDefault();
    const isSplitAnew = JSON.stringify(passagesPatchOf(passages)) !== JSON.stringify(passagesPatchOf(before));
    try {
      await change({
        ...(isSplitAnew && { embed: { passages: passagesPatchOf(passages) } }),
        ...(isFlat !== flatten && { flatten: isFlat }),
      });
      onClose();
    } catch (error) {
      setFailure(error.message);
    }
  };
  return html`<form class="confirm settings" aria-label=${`Settings of ${id}`} onSubmit=${submit}>
    <p class="checks">
      <label>
        <input type="checkbox" checked=${isFlat} onChange=${({ target }) => setFlat(target.checked)} />
        <span>Store nested objects as columns</span>
      </label>
    </p>
    ${model !== null && html`<${Passages} values=${passages} onChange=${setPassages} isOpen=${true} />`}
    <p class="actions">
      <button class="primary" type="submit">Save</button>
      <button type="button" onClick=${onClose}>Cancel</button>
    </p>
    ${failure && html`<p class="fault" role="alert">${failure}</p>`}
  </form>`;
}

function Confirmation({ id, drop, onCancel }) {
  const [text, setText] = useState('');
  const [failure, setFailure] = useState();
  const input = useRef();
  useLayoutEffect(() => input.current.focus(), []);
  const submit = async (event) => {
    event.preventDefault();
    if (text !== id) return;
    try {
      await drop();
    } catch (error) {
      setFailure(error.message);
    }
  };
  return html`<form class="confirm" onSubmit=${submit}>
    <label>
      Type <b>${id}</b> to delete the database and all its records
      <input ref=${input} autocomplete="off" spellcheck="false" value=${text} onInput=${({ target }) => setText(target.value)} />
    </label>
    <p class="actions">
      <button class="danger" type="submit" disabled=${text !== id}>Delete ${id}</button>
      <button type="button" onClick=${onCancel}>Cancel</button>
    </p>
    ${failure && html`<p class="fault" role="alert">${failure}</p>`}
  </form>`;
}
