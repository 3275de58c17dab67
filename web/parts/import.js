import { count, many } from '../format.js';
import { useImport } from '../hooks/use-import.js';
import { html } from '../html.js';
import { useEffect, useLayoutEffect, useRef, useState } from '../vendor/hooks.js';
import { Dialog } from './dialog.js';
import { Preview } from './preview.js';

const SHOWN_BAD_LINES = 100;

/** Imports a file of the user. `file` is one that was dropped on the page. */
export function Import({ service, file, onSearch, onClose }) {
  const task = useImport(service.key);
  useEffect(() => {
    if (file !== undefined) task.read(file);
  }, [file]);
  const close = () => {
    service.reload();
    onClose();
  };
  // Each step replaces the one before, which had the focus.
  const content = useRef();
  const isShown = useRef(false);
  useLayoutEffect(() => {
    if (isShown.current) content.current.focus();
    isShown.current = true;
  }, [task.step]);
  const isStoring = task.step === 'storing';
  // The first attempt to leave only cancels, so that the user sees what is stored.
  const leave = () => {
    if (isStoring) task.cancel();
    return !isStoring;
  };
  useEffect(() => {
    if (!isStoring) return undefined;
    const warn = (event) => event.preventDefault();
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [isStoring]);
  return html`<${Dialog} title="Import a file" wide=${true} onLeave=${leave} onClose=${close}>
    <div ref=${content} class="step" tabindex="-1">
    ${task.step === 'choose' && html`<${Choice} task=${task} />`}
    ${
      task.step === 'reading' &&
      html`<p aria-live="polite">Reading ${task.file.name}: ${many(task.rows, 'row')} so far…</p>`
    }
    ${task.step === 'preview' && html`<${Preview} task=${task} service=${service} />`}
    ${
      ['storing', 'done', 'cancelled', 'failed'].includes(task.step) &&
      html`<${Progress}
        task=${task}
        maySearch=${service.rights.search}
        onSearch=${() => {
          service.reload();
          onSearch(task.database);
        }}
        onRestart=${() => {
          // A database of this import can be chosen for the next.
          service.reload();
          task.restart();
        }}
      />`
    }
    </div>
  <//>`;
}

function Choice({ task }) {
  const [isOver, setOver] = useState(false);
  return html`<label
      class=${isOver ? 'drop over' : 'drop'}
      onDragEnter=${() => setOver(true)}
      onDragLeave=${() => setOver(false)}
    >
      <b>Choose a file, or drop it here</b>
      <span class="muted">CSV, NDJSON or JSON in UTF-8</span>
      <input
        type="file"
        aria-label="File"
        accept=".csv,.tsv,.txt,.json,.ndjson,.jsonl"
        onChange=${({ target }) => target.files[0] && task.read(target.files[0])}
      />
    </label>
    ${task.failure && html`<p class="fault" role="alert">${task.failure.message}</p>`}
    <p class="muted">
      The file is read in this browser, and its records are sent to the service. <code>cosift import</code> also reads
      Parquet, compressed files and other encodings.
    </p>`;
}

function Progress({ task, maySearch, onSearch, onRestart }) {
  const { step, progress, total, database, failure } = task;
  const { created, changed, unchanged, bad } = progress;
  const stored = created + changed + unchanged;
  const title = {
    storing: `Storing ${many(total, 'record')} in ${database}`,
    done: `${many(stored, 'record')} stored in ${database}`,
    // Of a request without a response, it is not known whether its records are stored.
    cancelled: `Cancelled. At least ${many(stored, 'record')} stay stored in ${database}`,
    failed: `The import failed. At least ${many(stored, 'record')} stay stored in ${database}`,
  }[step];
  return html`<div class="progress">
    <h3 aria-live="polite">${title}</h3>
    <progress aria-label="Progress of the import" max=${Math.max(1, total)} value=${progress.sent + bad.length}></progress>
    <p class="muted facts-line">
      <span>${count(created)} new</span>
      <span>${count(changed)} changed</span>
      <span>${count(unchanged)} unchanged</span>
      ${bad.length > 0 && html`<span class="fault">${many(bad.length, 'bad line')}</span>`}
    </p>
    ${failure && html`<p class="fault" role="alert">${failure.message}</p>`}
    ${
      bad.length > 0 &&
      html`<div class="bad-lines" tabindex="0" role="group" aria-label="Lines that are not stored">
        <table>
          <caption>Lines that are not stored</caption>
          <thead>
            <tr><th scope="col">line</th><th scope="col">reason</th></tr>
          </thead>
          <tbody>
            ${bad
              .slice(0, SHOWN_BAD_LINES)
              .map(({ line, reason }) => html`<tr><td>${count(line)}</td><td>${reason}</td></tr>`)}
          </tbody>
        </table>
      </div>
      ${bad.length > SHOWN_BAD_LINES && html`<p class="muted">and ${count(bad.length - SHOWN_BAD_LINES)} more</p>`}`
    }
    <p class="actions">
      ${step === 'storing' && html`<button type="button" onClick=${task.cancel}>Cancel</button>`}
      ${
        step !== 'storing' &&
        html`${
          maySearch &&
          (step === 'done' || stored > 0) &&
          html`<button class="primary" type="button" onClick=${onSearch}>Search ${database}</button>`
        }
          <button type="button" onClick=${onRestart}>Import another file</button>`
      }
    </p>
  </div>`;
}
