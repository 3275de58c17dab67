import { ask } from '../api.js';
import { requestOf } from '../query.js';
import { useRequest } from './use-request.js';

/** A map is requested when the user pauses, because it takes longer than a search. */
const DELAY_MS = 250;

/** The points of the matches of a query, with the values of `columns`. */
export function useMap(key, query, { columns, revision, isEnabled }) {
  const { database } = query;
  const { body } = requestOf(query);
  const { sort: _, pagination: __, distinct: ___, ...matches } = body;
  const request = { ...matches, columns };
  const load = async (signal) => ({
    request,
    ...(await ask(database, 'map', { key, body: request, signal })),
  });
  const isWanted = isEnabled && database !== '';
  return useRequest(
    isWanted ? load : undefined,
    [key, database, JSON.stringify(request), isWanted, revision],
    { delayMs: DELAY_MS },
  );
}
