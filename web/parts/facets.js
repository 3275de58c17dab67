import { hasRules, ruleOf, toggleRules } from '../filter.js';
import { count, many, short } from '../format.js';
import { intervalMs } from '../hooks/use-facets.js';
import { html, memo } from '../html.js';

/** The matches by value, number and time. A click on a value or a bar makes it a condition of the filter, or removes it. */
export const Facets = memo(({ facets, filter, from, to, onChange }) => {
  const onToggle = (rules) => onChange(({ filter }) => ({ filter: toggleRules(filter, rules) }));
  return html`<section class="panel facets" aria-label="Facets">
    ${facets.map((facet) => {
      if (facet.time !== undefined) {
        return html`<${Times} key="@${facet.time}" facet=${facet} from=${from} to=${to} onRange=${onChange} />`;
      }
      const Kind = facet.type === 'histogram' ? Numbers : Values;
      return html`<${Kind} key=${facet.column} facet=${facet} filter=${filter} onToggle=${onToggle} />`;
    })}
  </section>`;
});

function Values({ facet: { column, values, other = 0 }, filter, onToggle }) {
  if (values.length === 0) return null;
  const most = values[0].count;
  return html`<div class="facet" role="group" aria-label=${column}>
    <h2>${column}</h2>
    <ul>
      ${values.map(({ value, count: number }) => {
        const rules = [ruleOf(column, 'equals', value)];
        return html`<li key=${`${typeof value} ${value}`}>
          <button
            type="button"
            class="facet-value"
            aria-pressed=${hasRules(filter, rules)}
            title=${`${column} equals ${value}`}
            onClick=${() => onToggle(rules)}
          >
            <span class="share" style=${{ width: `${(100 * number) / most}%` }}></span>
            <span class="text">${value === '' ? '(empty text)' : String(value)}</span>
            <span class="count">${count(number)}</span>
          </button>
        </li>`;
      })}
    </ul>
    ${other > 0 && html`<p class="muted">${count(other)} with other values</p>`}
  </div>`;
}

function Numbers({ facet: { column, buckets, interval }, filter, onToggle }) {
  if (buckets.length === 0) return null;
  const bars = spread(buckets, interval).map(({ from, number }) => {
    const to = Number((from + interval).toPrecision(12));
    const rules = [ruleOf(column, 'greater_than_or_equals', from), ruleOf(column, 'less_than', to)];
    return {
      number,
      label: `${column} from ${short(from)} to ${short(to)}: ${many(number, 'record')}`,
      isChosen: hasRules(filter, rules),
      choose: () => onToggle(rules),
    };
  });
  const end = buckets.at(-1).from + interval;
  return html`<div class="facet" role="group" aria-label=${column}>
    <h2>${column}</h2>
    <${Bars} bars=${bars} first=${short(buckets[0].from)} last=${short(end)} />
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
  if (buckets.length === 0) return null;
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
