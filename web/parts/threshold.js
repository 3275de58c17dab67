import { count, many } from '../format.js';
import { STEP } from '../hooks/use-score-histogram.js';
import { html, memo } from '../html.js';

/** The weight of exact words in the score, against that of the meaning. */
function ExactWords({ value, suggested, onChange }) {
  return html`<h2>
      <label for="lexical">Exact words</label>
      <span class="number" aria-hidden="true">${value.toFixed(2)}</span>
    </h2>
    <input
      id="lexical"
      type="range"
      min="0"
      max="1"
      step="0.05"
      aria-label="Exact words"
      value=${value}
      onInput=${({ target }) => onChange({ lexical: Number(target.value) })}
    />
    <p class="scale" aria-hidden="true"><span>meaning alone</span><span>words alone</span></p>
    ${suggested !== undefined && html`<p class="muted">Begin with ${suggested}.</p>`}`;
}

/**
 * The slider of the threshold under the histogram of all scores, and in a database with exact words that of their weight.
 * What scores mean depends on the model. Without a text there are no scores, and the sliders are those of the next search.
 */
export const Threshold = memo(({ value, isUsed, histogram, description, lexical, onChange }) => {
  const { scores, notice } = description ?? {};
  const counts = histogram?.counts ?? [];
  const bars = Array.from({ length: Math.round(1 / STEP) }, (_, at) => counts[at] ?? 0);
  // The few good matches would not be visible among thousands of records without a relation to the text.
  const most = Math.log1p(Math.max(1, ...bars));
  return html`<section class="panel threshold">
    <h2>
      <label for="threshold">Threshold</label>
      <span class="number" aria-hidden="true">${value.toFixed(2)}</span>
    </h2>
    ${
      isUsed &&
      html`<div class="histogram" role="img" aria-label=${summary(histogram)}>
      ${bars.map((number, at) => {
        const from = at * STEP;
        return html`<span
          class=${from + STEP / 2 < value ? 'bar below' : 'bar'}
          title=${`${many(number, 'record')} with a score from ${from.toFixed(2)} to ${(from + STEP).toFixed(2)}`}
          style=${{ height: `${number === 0 ? 0 : Math.max(4, (100 * Math.log1p(number)) / most)}%` }}
        ></span>`;
      })}
    </div>`
    }
    <input
      id="threshold"
      type="range"
      min="0"
      max="1"
      step="0.01"
      aria-label="Threshold"
      value=${value}
      onInput=${({ target }) => onChange({ threshold: Number(target.value) })}
    />
    <p class="scale" aria-hidden="true"><span>0</span><span>0.5</span><span>1</span></p>
    ${!isUsed && html`<p class="muted">The least score of a search: enter a text.</p>`}
    ${isUsed && scores !== undefined && lexical !== 1 && html`<p class="muted">${advice(scores, lexical)}</p>`}
    ${notice !== undefined && html`<p class="muted">${notice[0].toUpperCase()}${notice.slice(1)}</p>`}
    ${lexical !== undefined && html`<${ExactWords} value=${lexical} suggested=${scores?.lexical} onChange=${onChange} />`}
  </section>`;
});

/** Where to put the threshold. Records without a word of the text have only the part of the score that is meaning. */
function advice({ related, close }, lexical = 0) {
  const shown = (score) => Number((score * (1 - lexical)).toFixed(2));
  return `Related from about ${shown(related)}, close in meaning from ${shown(close)}.`;
}

function summary(histogram) {
  if (histogram === undefined || histogram.best === undefined) return 'Histogram of scores: no scores';
  const total = histogram.counts.reduce((sum, number) => sum + number, 0);
  return `Histogram of the scores of ${count(total)} records; the best is ${histogram.best.toFixed(2)}. Heights are logarithmic.`;
}
