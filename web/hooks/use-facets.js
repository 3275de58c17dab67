import { ask } from '../api.js';
import { withoutChoice } from '../facet-choice.js';
import { requestOf } from '../query.js';
import { useRequest } from './use-request.js';

/** Facets are requested when the user pauses, so that they never delay the results. */
const DELAY_MS = 200;
const MAX_FACETS = 15;
const VALUES = 8;
/** Longer values are texts, not categories. */
const MAX_VALUE_LENGTH = 60;
/** The least share of records that the most frequent values of a category must have. */
const MIN_SHARE = 0.2;
const BARS = 16;
const INTERVALS = [
  ['minute', 60_000],
  ['hour', 3_600_000],
  ['day', 86_400_000],
  ['week', 604_800_000],
  ['month', 2_629_800_000],
  ['year', 31_557_600_000],
];

/**
 * The facets of the matches of a query: of columns with few values, of numbers, and of the time of the last sync. What is
 * chosen in a facet does not narrow this facet, so that further values can be chosen.
 *
 * @returns {object[] | undefined} in the form of the response
 */
export function useFacets(key, query, columns, { revision, isEnabled }) {
  const { database } = query;
  const names = JSON.stringify(columns);
  const enabled = isEnabled && database !== '';
  const plan = useRequest(enabled ? (signal) => planFacets({ key, database, columns, signal }) : undefined, [
    key,
    database,
    names,
    enabled,
  ]);
  const facets = plan.value?.database === database ? plan.value.facets : [];
  const requests = requestsOf(query, facets);
  const load = async (signal) => {
    const responses = await Promise.all(
      requests.map(({ operation, body }) => ask(database, operation, { key, body, signal })),
    );
    const counted = new Map(
      responses.flatMap((response, at) =>
        response.facets.map((facet, own) => [requests[at].body.facets[own], facet]),
      ),
    );
    return facets.map((facet) => counted.get(facet));
  };
  const canLoad = enabled && facets.length > 0;
  const { value } = useRequest(
    canLoad ? load : undefined,
    [key, JSON.stringify({ database, requests }), canLoad, revision],
    { delayMs: DELAY_MS },
  );
  return canLoad ? value : undefined;
}

/** The requests that count facets: one for each facet in which something is chosen, and one for all others. */
function requestsOf(query, facets) {
  const requests = new Map();
  for (const facet of facets) {
    const counted = withoutOwn(query, facet);
    const own = requests.get(counted) ?? [];
    requests.set(counted, [...own, facet]);
  }
  return [...requests].map(([counted, facets]) => {
    const { operation, body } = requestOf(counted, { limit: 1 });
    const { sort: _, ...request } = body;
    return { operation, body: { ...request, facets } };
  });
}

function withoutOwn(query, facet) {
  if (facet.time !== undefined) {
    return query.from === '' && query.to === '' ? query : { ...query, from: '', to: '' };
  }
  const filter = withoutChoice(query.filter, facet);
  return filter === query.filter ? query : { ...query, filter };
}

/** Decides from all records which facets are worth showing, and the intervals of their histograms. */
async function planFacets({ key, database, columns, signal }) {
  const query = (body) =>
    ask(database, 'query', { key, body: { pagination: { limit: 1 }, ...body }, signal });
  const isNumber = ({ types }) => types.length === 1 && types[0] === 'number';
  const [synced, ...planned] = await Promise.all([
    planTime(query),
    planValues(query, columns.filter((column) => !isNumber(column)).slice(0, MAX_FACETS)),
    ...columns.filter(isNumber).map((column) => planNumbers(query, column.name)),
  ]);
  const facets = [...planned.flat(), ...synced].slice(0, MAX_FACETS + 1);
  return { database, facets };
}

async function planValues(query, columns) {
  if (columns.length === 0) return [];
  const facets = columns.map(({ name }) => ({ column: name, limit: VALUES }));
  const { facets: found } = await query({ facets });
  return found.filter(isCategory).map(({ column }) => ({ column, limit: VALUES }));
}

function isCategory({ values, other = 0 }) {
  if (values.length < 2) return false;
  if (values.some(({ value }) => String(value).length > MAX_VALUE_LENGTH)) return false;
  const listed = values.reduce((sum, { count }) => sum + count, 0);
  return values[0].count > 1 && listed / (listed + other) >= MIN_SHARE;
}

/** A histogram from the least number of a column to the greatest, in about {@link BARS} intervals. */
async function planNumbers(query, column) {
  const end = async (direction) => {
    const { results } = await query({ sort: { column, direction } });
    return results[0]?.data[column];
  };
  const [least, greatest] = await Promise.all([end('asc'), end('desc')]);
  if (typeof least !== 'number' || typeof greatest !== 'number' || least === greatest) return [];
  return [{ column, type: 'histogram', interval: niceInterval((greatest - least) / BARS) }];
}

/** 1, 2 or 5 times a power of ten, at least `width`. */
function niceInterval(width) {
  const power = 10 ** Math.floor(Math.log10(width));
  const factor = [1, 2, 5, 10].find((factor) => factor * power >= width * 0.999);
  return Number((factor * power).toPrecision(1));
}

async function planTime(query) {
  const time = 'synced_at';
  const end = async (direction) => {
    const { results } = await query({ sort: { time, direction } });
    return results[0] && Date.parse(results[0].timestamps[time]);
  };
  const [first, last] = await Promise.all([end('asc'), end('desc')]);
  if (first === undefined || last - first < 1_000) return [];
  const [interval] = INTERVALS.find(([, ms]) => (last - first) / ms <= 2 * BARS) ?? INTERVALS.at(-1);
  return [{ time: 'synced', interval }];
}

/** Milliseconds of a calendar interval, at most: its end is before the next start. */
export function intervalMs(interval) {
  const longest = { month: 31 * 86_400_000, year: 366 * 86_400_000 };
  return longest[interval] ?? INTERVALS.find(([name]) => name === interval)[1];
}
