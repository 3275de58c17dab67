import { choiceOf, isChosen, toggleChoice } from '../facet-choice.js';
import { ruleOf } from '../filter.js';
import { count, many, short } from '../format.js';
import { intervalMs } from '../hooks/use-facets.js';
import { html, memo } from '../html.js';

/**
 * The matches by value, number and time. A click on a value or a bar makes it a condition of the filter, in addition to the
 * others of its facet, or removes it. A facet without values has no card.
 */
export const Facets = memo(({ facets, filter, from, to, onChange }) => {
  const cards = facets.map((facet) => {
    if (facet.time !== undefined) {
      return (
        facet.buckets.length > 0 &&
        html`<${Times} key="@${facet.time}" facet=${facet} from=${from} to=${to} onRange=${onChange} />`
      );
    }
    const { choices } = choiceOf(filter, facet);
    const [Kind, entries] =
      facet.type === 'histogram' ? [Numbers, bucketsOf(facet, choices)] : [Values, valuesOf(facet, choices)];
    const onToggle = (rules) => onChange(({ filter }) => ({ filter: toggleChoice(filter, facet, rules) }));
    return (
      entries.length > 0 &&
      html`<${Kind} key=${facet.column} facet=${facet} entries=${entries} choices=${choices} onToggle=${onToggle} />`
    );
  });
  return cards.some(Boolean) && html`<section class="panel facets" aria-label="Facets">${cards}</section>`;
});

/** The values of a facet. What was chosen among other matches stays, so that it can be removed. */
function valuesOf({ column, values, other = 0 }, choices) {
  const listed = values.map(({ value, count: number }) => ({
    ...{ value, number },
    rules: [ruleOf(column, 'equals', value)],
  }));
  const others = choices
    .filter((rules) => !listed.some((entry) => isChosen([entry.rules], rules)))
    .map((rules) => ({ value: rules[0].value, number: other > 0 ? undefined : 0, rules }));
  return [...listed, ...others];
}

function Values({ facet: { column, other = 0 }, entries, choices, onToggle }) {
  const most = Math.max(1, ...entries.map(({ number = 0 }) => number));
  return html`<div class="facet" role="group" aria-label=${column}>
    <h2>${column}</h2>
    <ul>
      ${entries.map(
        ({ value, number, rules }) => html`<li key=${`${typeof value} ${value}`}>
          <button
            type="button"
            class="facet-value"
            aria-pressed=${isChosen(choices, rules)}
            title=${`${column} equals ${value}`}
            onClick=${() => onToggle(rules)}
          >
            <span class="share" style=${{ width: `${(100 * (number ?? 0)) / most}%` }}></span>
            <span class="text">${value === '' ? '(empty text)' : String(value)}</span>
            <span class="count">${number === undefined ? '' : count(number)}</span>
          </button>
        </li>`,
      )}
    </ul>
    ${other > 0 && html`<p class="muted">${count(other)} with other values</p>`}
  </div>`;
}

const endOf = (from, interval) => Number((from + interval).toPrecision(12));

/** The intervals of a facet, in their order. What was chosen among other matches stays, so that it can be removed. */
function bucketsOf({ buckets, interval }, choices) {
  const chosen = choices
    .map((rules) => rules.map(({ value }) => Number(value)))
    .filter(
      ([from, to]) =>
        Number.isInteger(Number((from / interval).toPrecision(12))) && endOf(from, interval) === to,
    )
    .map(([from]) => ({ from, count: 0 }));
  const others = chosen.filter(({ from }) => !buckets.some((bucket) => bucket.from === from));
  return [...buckets, ...others].sort((a, b) => a.from - b.from);
}

function Numbers({ facet: { column, interval }, entries, choices, onToggle }) {
  const bars = spread(entries, interval).map(({ from, number }) => {
    const to = endOf(from, interval);
    const rules = [ruleOf(column, 'greater_than_or_equals', from), ruleOf(column, 'less_than', to)];
    return {
      number,
      label: `${column} from ${short(from)} to ${short(to)}: ${many(number, 'record')}`,
      isChosen: isChosen(choices, rules),
      choose: () => onToggle(rules),
    };
  });
  return html`<div class="facet" role="group" aria-label=${column}>
    <h2>${column}</h2>
    <${Bars} bars=${bars} first=${short(entries[0].from)} last=${short(endOf(entries.at(-1).from, interval))} />
  </div>`;
}

const MAX_BARS = 40;

/** The buckets with those that are empty, unless there would be too many. */
function spread(buckets, interval) {
  const [first, last] = [buckets[0].from, buckets.at(-1).from];
  const length = Math.round((last - first) / interval) + 1;
  const numbers = new Map(
    buckets.map(({ from, count: number }) => [Math.round((from - first) / interval), number]),
  );
  if (length > MAX_BARS) return buckets.map(({ from, count: number }) => ({ from, number }));
  return Array.from({ length }, (_, at) => ({
    from: Number((first + at * interval).toPrecision(12)),
    number: numbers.get(at) ?? 0,
  }));
}

function Times({ facet: { time, interval, buckets }, from, to, onRange }) {
  const bars = buckets.map(({ from: start, count: number }) => {
    const end = new Date(Date.parse(start) + intervalMs(interval) - 1).toISOString();
    const isChosen = from === start && to === end;
    return {
      number,
      label: `${time} in the ${interval} of ${start.slice(0, interval === 'minute' || interval === 'hour' ? 16 : 10)}: ${many(number, 'record')}`,
      isChosen,
      choose: () => onRange(isChosen ? { from: '', to: '' } : { from: start, to: end }),
    };
  });
  return html`<div class="facet" role="group" aria-label="Time of the last sync">
    <h2>last synced</h2>
    <${Bars} bars=${bars} first=${buckets[0].from.slice(0, 10)} last=${buckets.at(-1).from.slice(0, 10)} />
  </div>`;
}

function Bars({ bars, first, last }) {
  const most = Math.max(...bars.map(({ number }) => number));
  return html`<div class="bars">
      ${bars.map(
        ({ number, label, isChosen, choose }) =>
          html`<button key=${label} type="button" aria-label=${label} title=${label} aria-pressed=${isChosen} disabled=${number === 0 && !isChosen} onClick=${choose}>
            <span class="height" style=${{ height: `${number === 0 ? 0 : Math.max(4, (100 * number) / most)}%` }}></span>
          </button>`,
      )}
    </div>
    <p class="scale" aria-hidden="true"><span>${first}</span><span>${last}</span></p>`;
}
