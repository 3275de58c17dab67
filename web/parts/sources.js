import { sendJson } from '../api.js';
import { ago, count, many } from '../format.js';
import { useRequest } from '../hooks/use-request.js';
import { html } from '../html.js';
import { useEffect, useRef, useState } from '../vendor/hooks.js';

const RELOAD_MS = 2_000;

/** States in which somebody may have to do something. */
const BAD = new Set(['waiting', 'failed', 'withheld']);

/** The sources that the service keeps databases in step with, as they are while the page shows them. */
export function Sources({ apiKey: key, onRecords }) {
  const { value, failure, isLoading, reload } = useRequest(
    (signal) => sendJson('GET', 'v1/sync', { key, signal }),
    [key],
  );
  const [asked, setAsked] = useState({});
  const state = useRef();
  useEffect(() => {
    // A service that follows no source begins to only by a restart.
    if (isLoading || value?.syncs.length === 0) return undefined;
    const timer = setTimeout(reload, RELOAD_MS);
    return () => clearTimeout(timer);
  }, [isLoading]);
  const syncs = value?.syncs ?? [];
  // Other parts of the page show how many records a database has.
  useEffect(() => {
    if (syncs.length > 0) onRecords();
  }, [syncs.map(({ records }) => records).join()]);
  if (syncs.length === 0 && failure === undefined) return null;
  const request = (name, action, done) => async (body) => {
    try {
      await sendJson('POST', `v1/sync/${name}/${action}`, { key, body });
      setAsked({ text: done });
      reload();
    } catch (error) {
      setAsked({ text: `${name}: ${error.message}`, isFault: true });
    }
    // The element with the focus may go away.
    state.current.focus();
  };
  return html`<section class="sources" aria-label="Sources">
    <h3>Sources</h3>
    <p ref=${state} class=${asked.isFault ? 'fault' : 'muted'} role="status" tabindex="-1">${asked.text}</p>
    ${failure && html`<p class="fault" role="alert">${failure.message}</p>`}
    <ul class="databases">
      ${syncs.map(
        (sync) =>
          html`<${Source}
            key=${sync.name}
            sync=${sync}
            reconcile=${request(sync.name, 'reconcile', `All rows of ${sync.name} are compared.`)}
            confirm=${request(sync.name, 'confirm', `The records that ${sync.name} lacks are deleted.`)}
          />`,
      )}
    </ul>
  </section>`;
}

function Source({ sync, reconcile, confirm }) {
  const {
    name,
    database,
    records,
    refused,
    refused_rows,
    withheld,
    reason,
    by_scan,
    last_whole_pass: whole,
  } = sync;
  return html`<li>
    <div class="row">
      <b>${name}</b>
      <span class=${BAD.has(sync.state) ? 'state fault' : 'state'}>${stateOf(sync)}</span>
    </div>
    <p class="muted facts-line">
      <span>of ${database}</span>
      <span>${many(records, 'record')}</span>
      ${whole && html`<span>all ${many(whole.read, 'row')} compared ${ago(whole.at)}: ${count(whole.written)} written, ${count(whole.deleted)} deleted</span>`}
    </p>
    ${reason !== undefined && html`<p class="fault">${reason}</p>`}
    ${by_scan !== undefined && html`<p class="muted">by scan: ${by_scan}</p>`}
    ${
      withheld > 0 &&
      html`<p>
        The source lacks ${many(withheld, 'record')}, more than a pass may delete.${' '}
        <button class="danger small" type="button" aria-label=${`Delete ${many(withheld, 'record')} of ${name}`} onClick=${() => confirm({ withheld })}>
          Delete ${many(withheld, 'record')}
        </button>
      </p>`
    }
    ${
      refused > 0 &&
      html`<details>
        <summary>${many(refused, 'refused row')}</summary>
        <div class="table" role="group" tabindex="0" aria-label=${`Refused rows of ${name}`}>
          <table>
            <thead><tr><th>Key</th><th>Reason</th></tr></thead>
            <tbody>
              ${refused_rows.map(({ key, reason }) => html`<tr><td>${key}</td><td>${reason}</td></tr>`)}
            </tbody>
          </table>
        </div>
        ${refused > refused_rows.length && html`<p class="muted">and ${count(refused - refused_rows.length)} more</p>`}
      </details>`
    }
    <button class="quiet small" type="button" aria-label=${`Compare all rows of ${name}`} onClick=${() => reconcile()}>
      Compare all rows
    </button>
  </li>`;
}

function stateOf({ state, in_step_as_of, progress, next_attempt, requested = [] }) {
  switch (state) {
    case 'in_step':
      return requested.length > 0 ? 'reading' : `in step as of ${ago(in_step_as_of)}`;
    case 'reading':
      return progress === undefined ? 'reading' : `reading: ${progressOf(progress)}`;
    case 'waiting':
    case 'failed':
      return next_attempt === undefined ? state : `${state}, tried again ${until(next_attempt)}`;
    case 'new':
      return 'not read yet';
    default:
      return state;
  }
}

function progressOf({ rows, total, rows_per_second, seconds_left }) {
  return [
    total === undefined ? many(rows, 'row') : `${count(rows)} of ${many(total, 'row')}`,
    `${count(Math.round(rows_per_second))} per second`,
    ...(seconds_left === undefined ? [] : [`${span(seconds_left)} left`]),
  ].join(', ');
}

const until = (time) => `in ${span(Math.max(0, Date.parse(time) - Date.now()) / 1000)}`;

const span = (seconds) =>
  seconds < 90 ? many(Math.ceil(seconds), 'second') : many(Math.ceil(seconds / 60), 'minute');
