import { CosiftError, type Problem } from '../errors.js';
import { type DatabaseSettings, DEFAULTS, defaultThreshold, type SearchRequest } from '../schema/index.js';
import type { MapOption } from '../store/record-store.js';

type Defaults = NonNullable<DatabaseSettings['defaults']>;

/** A search that leaves out no member that has a default. */
export interface CompleteSearch {
  request: SearchRequest & MapOption & { pagination: { limit: number; cursor: string | undefined } };
  /** What the cursor of the next page ends with. */
  suffix: string;
}

/** How far above 1 the sum of weights may be, because of rounding. */
const SUM_SLACK = 1e-9;

/** The end of a cursor: the threshold and the weight of words that are defaults of the database. */
const SUFFIX = /~([^~,]*),([^~,]*)$/;

/**
 * Completes a search by the defaults of its database.
 *
 * The threshold and the weight of words decide the order of the results and which there are. So a cursor has the defaults
 * that the page before was found with, and the pages after it have the same, whatever the defaults are by then.
 *
 * @throws {CosiftError} `invalid_cursor`; `invalid_request` for what needs a weight of words.
 */
export function completeSearch(
  given: SearchRequest & MapOption,
  { limit = DEFAULTS.limit, ...first }: Defaults = {},
): CompleteSearch {
  const { search, pagination = {} } = given;
  const values = pagination.cursor === undefined ? first : defaultsIn(pagination.cursor);
  // A vector and examples have no words.
  const lexicalDefault = search.text === undefined ? undefined : values.lexical;
  const lexical = search.lexical ?? lexicalDefault;
  if (search.lexical === undefined && lexicalDefault !== undefined) checkWeights(lexicalDefault, search);
  const threshold = search.threshold ?? values.threshold ?? defaultThreshold(lexical, search.boosts);
  if (lexical === undefined && (given.highlights === true || search.prefix === true)) {
    const pointer = given.highlights === true ? '/highlights' : '/search/prefix';
    throw refused('invalid_request', pointer, 'needs lexical, the weight of exact words');
  }
  const used = [
    search.threshold === undefined ? values.threshold : undefined,
    search.lexical === undefined ? lexicalDefault : undefined,
  ];
  return {
    request: {
      ...given,
      search: { ...search, threshold, ...(lexical !== undefined && { lexical }) },
      pagination: {
        limit: pagination.limit ?? limit,
        cursor: pagination.cursor?.replace(SUFFIX, ''),
      },
    },
    suffix: used.every((value) => value === undefined) ? '' : `~${used.join(',')}`,
  };
}

/** The engine checks the weights that a search gives itself. */
function checkWeights(lexical: number, { boosts = [] }: SearchRequest['search']): void {
  const sum = boosts.reduce((sum, { weight }) => sum + weight, 0);
  if (lexical === 0 || sum > 1 || lexical + sum <= 1 + SUM_SLACK) return;
  const detail = `the weights are ${sum}, and the default lexical of the database is ${lexical}: together they may be at most 1; give lexical in the search to use another weight`;
  throw refused('invalid_request', '/search/boosts', detail);
}

function defaultsIn(cursor: string): Pick<Defaults, 'threshold' | 'lexical'> {
  const [suffix, threshold, lexical] = SUFFIX.exec(cursor) ?? [];
  const defaults = { threshold: parsed(threshold), lexical: parsed(lexical) };
  const isMade = Object.values(defaults).some((value) => value !== undefined);
  return suffix === undefined || isMade ? defaults : notOurs();
}

/** A number from 0 to 1, written as {@link completeSearch} writes it; undefined for no text. */
function parsed(text = ''): number | undefined {
  const value = Number(text);
  if (text === '') return undefined;
  return value >= 0 && value <= 1 && text === String(value) ? value : notOurs();
}

function notOurs(): never {
  throw refused('invalid_cursor', '/pagination/cursor', 'must be a next_cursor of this service');
}

function refused(code: 'invalid_cursor' | 'invalid_request', pointer: string, detail: string): CosiftError {
  const problems: Problem[] = [{ pointer, code: 'invalid_value', detail }];
  return new CosiftError(code, `${pointer}: ${detail}`, { problems });
}
