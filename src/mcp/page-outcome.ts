import { shortened, sizeOf } from '../agents/excerpt.js';
import { CUT, matchesNote } from '../agents/search-tool.js';
import { areCut, shownRecords } from '../agents/shown-records.js';
import type { Filter, Page, StoredRecord } from '../schema/public-types.js';
import { columnsOf, unknownColumns } from '../where/unknown-columns.js';
import type { Outcome } from './outcome.js';
import { shownCounts } from './shown-counts.js';
import type { Target } from './target.js';

const FEWER = 'fewer `columns` or a lower `limit` show more';
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
      matchesNote(matches, shown.length),
      ...(cursor === undefined ? [] : [`The next ones: the same arguments and cursor ${cursor}`]),
      ...(areCut(shown) ? [`${CUT}: ${FEWER}${mayGet ? GET : ''}.`] : []),
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
