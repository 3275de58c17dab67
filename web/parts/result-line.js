import { count, many, milliseconds } from '../format.js';
import { html } from '../html.js';

/** How many matches there are, and what finding them took. */
export function ResultLine({ search }) {
  const { value, isLoading, failure, total } = search;
  let text = '';
  if (failure !== undefined) text = 'The request failed.';
  else if (value === undefined) text = isLoading ? 'Searching…' : '';
  else text = textOf(value, total);
  return html`<p class="result-line" role="status">${text}</p>`;
}

function textOf({ ms, explain = {}, request }, total) {
  const noun = request.search === undefined ? 'records' : 'matches';
  const found = total === undefined ? `Counting ${noun}` : numbered(total, noun);
  // A listing reads every record of the database or of an index; a search says how many vectors it compared.
  const scanned = explain.scanned ?? explain.records;
  return [
    found,
    milliseconds(ms),
    ...(scanned === undefined ? [] : [`${many(scanned, 'record')} scanned`]),
  ].join(' · ');
}

const numbered = (number, noun) =>
  noun === 'records' ? many(number, 'record') : `${count(number)} ${number === 1 ? 'match' : 'matches'}`;
