import { shortened } from '../agents/excerpt.js';
import type { FacetCounts } from '../schema/public-types.js';

/** Maximum number of characters of a counted value, and of the name of a column, as JSON. */
const MAX_VALUE = 60;
const MAX_COLUMN = 100;

/** Returns the counts of facets with long values and names cut. */
export function shownCounts(facets: readonly FacetCounts[]): object[] {
  return facets.map((facet) => {
    if (!('column' in facet)) return facet;
    const column = shortened(facet.column, MAX_COLUMN);
    if (!('values' in facet)) return { ...facet, column };
    const values = facet.values.map(({ value, count }) => ({
      value: typeof value === 'string' ? shortened(value, MAX_VALUE) : value,
      count,
    }));
    return { ...facet, column, values };
  });
}
