import { rankedColumns } from '../columns.js';
import { ago, count } from '../format.js';
import { html, memo } from '../html.js';
import { VARIANTS } from '../variants.js';
import { useCallback, useState } from '../vendor/hooks.js';
import { markedParts } from '../words.js';
import { Explanation } from './explanation.js';

/** Longer values get lines of their own. */
const SHORT = 48;
const SHOWN_COLUMNS = 12;
const CLOSED = { explanation: false, columns: false };

/**
 * What is open in the cards of records. It belongs to the records, because a card may show another one later.
 *
 * @returns {[Map<number, object>, (id: number, part: string) => void]} what is open by id, and a function
 * that opens or closes a part
 */
export function useOpened() {
  const [opened, setOpened] = useState(new Map());
  const toggle = useCallback((id, part) => {
    setOpened((before) => {
      const own = before.get(id) ?? CLOSED;
      return new Map(before).set(id, { ...own, [part]: !own[part] });
    });
  }, []);
  return [opened, toggle];
}

/** A record at its place in the results, or alone: its score, its title, the columns that match best first, and its times. */
export const Card = memo(
  ({ record, at, request, words, embedded, variant, isFirst, opened = CLOSED, onToggle, onLike }) => {
    const {
      id,
      uuid,
      relevance_score: score,
      data,
      timestamps,
      passage,
      highlights,
      group,
      best_passages: passages,
    } = record;
    // What is listed as passages is not shown a second time, except the title.
    const listed = new Set(passages?.map(({ column }) => column));
    const [lead, ...others] = rankedColumns(data, { words, embedded, passage, highlights }).filter(
      ({ name }, at) => !listed.has(name) || (at === 0 && name !== passage?.column),
    );
    const shown = opened.columns ? others : others.slice(0, SHOWN_COLUMNS);
    const partOf = ({ name }) => (name === passage?.column ? passage : undefined);
    const explanation = `explanation-${at ?? 'selected'}`;
    return html`<li class="card" tabindex=${isFirst ? 0 : -1} aria-posinset=${at === undefined ? undefined : at + 1} aria-setsize=${at === undefined ? undefined : '-1'}>
    ${
      score !== undefined &&
      html`<div class="score">
      <span class="number"><span class="hidden">Score </span>${score.toFixed(3)}</span>
      <span class="score-bar" aria-hidden="true"><span class="filled" style=${{ width: `${score * 100}%` }}></span></span>
    </div>`
    }
    <div class="content">
      ${
        lead !== undefined &&
        html`<p class=${`lead ${classOf(lead)}${partOf(lead) ? ' whole' : ''}`}>
        <span class="name">${shownName(lead, partOf(lead))}</span>
        <span dir="auto">${shownValue(lead, partOf(lead))}</span>
      </p>`
      }
      <dl>
        ${shown.map(
          (column) => html`<div class=${partOf(column) ? 'long whole' : classOf(column)}>
            <dt>${shownName(column, partOf(column))}</dt>
            <dd dir="auto">${shownValue(column, partOf(column))}</dd>${' '}
          </div>`,
        )}
      </dl>
      ${
        passages !== undefined &&
        html`<ol class="best-passages" role="list" aria-label="Best passages">
        ${passages.map(
          ({ column, score, text }) => html`<li>
            <span class="number">${score.toFixed(3)}</span>
            <span class="muted">${column}</span>
            <span dir="auto">${text}</span>
          </li>`,
        )}
      </ol>`
      }
      <p class="foot">
        <span class="id" title=${`id ${id}\nuuid ${uuid}`}>${VARIANTS[variant].idOf(record)}</span>
        <time datetime=${timestamps.changed_at} title=${titleOf(timestamps)}>
          changed ${ago(timestamps.changed_at)}
        </time>
        ${group?.count > 1 && html`<span class="muted">first of ${count(group.count)} with this ${request.distinct.column}</span>`}
        ${
          others.length > SHOWN_COLUMNS &&
          html`<button class="quiet small" type="button" aria-expanded=${opened.columns} onClick=${() => onToggle(id, 'columns')}>
          ${opened.columns ? 'fewer columns' : `${others.length - SHOWN_COLUMNS} more columns`}
        </button>`
        }
        <button
          class="quiet small"
          type="button"
          aria-expanded=${opened.explanation}
          aria-controls=${opened.explanation ? explanation : undefined}
          onClick=${() => onToggle(id, 'explanation')}
        >
          Explain
        </button>
        <button class="quiet small" type="button" onClick=${() => onLike(id)}>More like this</button>
      </p>
      ${opened.explanation && html`<${Explanation} id=${explanation} record=${record} request=${request} />`}
    </div>
  </li>`;
  },
);

function classOf({ text, isText }) {
  return isText && text.length > SHORT ? 'long' : 'short';
}

function shownName({ name }, part) {
  return part === undefined ? name : html`${name}<span class="muted">, best passage</span>`;
}

/** A value, or only `part` of it. */
function shownValue({ text: whole, places }, part) {
  const { start, end } = part ?? { start: 0, end: whole.length };
  const parts = markedParts(whole, places, { start, end }).map(({ text, isMarked }) =>
    isMarked ? html`<mark>${text}</mark>` : text,
  );
  return [start > 0 && '… ', ...parts, end < whole.length && ' …'];
}

const titleOf = (timestamps) =>
  Object.entries(timestamps)
    .map(([name, time]) => `${name} ${time}`)
    .join('\n');
