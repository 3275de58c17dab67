import { ask } from '../api.js';
import { requestOf } from '../query.js';
import { useRequest } from './use-request.js';

/** Width of the intervals of scores. */
export const STEP = 0.05;

/** The histogram is requested when the user pauses, because it takes a request for each interval. */
const DELAY_MS = 250;

/**
 * The number of records in each interval of scores, under the filter and the time range of a query. Each count is exact: the
 * difference of the totals of two thresholds.
 *
 * @returns {{ counts: number[], best?: number } | undefined}
 */
export function useScoreHistogram(key, query, { revision, isEnabled }) {
  const { database } = query;
  const { operation, body } = requestOf({ ...query, threshold: 0 }, { limit: 1 });
  const enabled = isEnabled && database !== '' && operation === 'search';
  const load = async (signal) => {
    const totalAbove = async (threshold) => {
      const request = { ...body, search: { ...body.search, threshold }, total: true };
      const page = await ask(database, 'search', { key, body: request, signal });
      return { total: page.total.value, best: page.results[0]?.relevance_score };
    };
    const all = await totalAbove(0);
    if (all.best === undefined) return { counts: [] };
    const steps = Math.floor(all.best / STEP);
    const thresholds = Array.from({ length: steps }, (_, at) => Number(((at + 1) * STEP).toFixed(2)));
    const others = await Promise.all(thresholds.map(totalAbove));
    const totals = [all.total, ...others.map(({ total }) => total), 0];
    return { counts: totals.slice(0, -1).map((total, at) => total - totals[at + 1]), best: all.best };
  };
  const { value } = useRequest(
    enabled ? load : undefined,
    [key, database, JSON.stringify(body), enabled, revision],
    { delayMs: DELAY_MS },
  );
  return enabled ? value : undefined;
}
