import type { Filter, Page, StoredRecord } from '../schema/public-types.js';
import { columnsOf, unknownColumns } from '../where/unknown-columns.js';
import { shortened, sizeOf } from './excerpt.js';
import type { Outcome } from './outcome.js';
import { shownCounts } from './shown-counts.js';
import { areCut, shownRecords } from './shown-records.js';
import type { Target } from './target.js';

const CUT =
  'Some values are cut, and `cut` says which part of each is shown: fewer `columns` or a lower `limit` show more';
const GET = ', and so does `get`';

/** Maximum number of warnings, and of the characters of each as JSON. */
const MAX_WARNINGS = 3;
const MAX_WARNING = 300;

/** What a tool says about a page. `named` are the columns that its arguments name. */
export async function pageOutcome(
  { results, total, pagination, facets = [] }: Page<StoredRecord>,
  database: string,
  { databases }: Target,
  { filter, named, mayGet }: { filter: Filter | undefined; named: readonly string[]; mayGet: boolean },
): Promise<Outcome> {
  const unknown = await unknownColumns(databases, database, [...columnsOf(filter), ...named]);
  // They contain names of columns, which others have stored.
  const warnings = unknown.slice(0, MAX_WARNINGS).map((text) => shortened(text, MAX_WARNING));
  if (unknown.length > MAX_WARNINGS)
    warnings.push(`${unknown.length - MAX_WARNINGS} more columns that no record has`);
  const counts = shownCounts(facets);
  const matches = total?.value ?? 0;
  const { next_cursor: cursor } = pagination;
  const shown = shownRecords(results, { taken: sizeOf([warnings, counts, cursor]) });
  return {
    notes: [
      matches === 1 ? '1 match.' : `${matches} matches, ${shown.length} of them here.`,
      ...(cursor === undefined ? [] : [`The next ones: the same arguments and cursor ${cursor}`]),
      ...(areCut(shown) ? [mayGet ? `${CUT}${GET}.` : `${CUT}.`] : []),
    ],
    members: {
      ...(warnings.length > 0 && { warnings }),
      results: shown,
      total: matches,
      ...(cursor !== undefined && { next_cursor: cursor }),
      ...(counts.length > 0 && { counts }),
    },
    data: [...counts, ...warnings.map((warning) => ({ warning })), ...shown],
  };
}
