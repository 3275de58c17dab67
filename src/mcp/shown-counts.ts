import type { FacetCounts } from '../schema/public-types.js';

/** Maximum number of characters of a counted value. */
const LETTERS = 60;

/** Returns the counts of facets with long values cut. */
export function shownCounts(facets: readonly FacetCounts[]): object[] {
  return facets.map((facet) => {
    if (!('values' in facet)) return facet;
    const values = facet.values.map(({ value, count }) => ({ value: shown(value), count }));
    return { ...facet, values };
  });
}

function shown<T>(value: T): T | string {
  const isLong = typeof value === 'string' && value.length > LETTERS;
  return isLong ? `${value.slice(0, LETTERS).toWellFormed()}…` : value;
}
