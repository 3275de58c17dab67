import {
  CUT,
  DEFAULT_LIMIT,
  IS_DATA,
  matchesNote,
  query,
  SEARCH_DESCRIPTION,
} from '../agents/search-tool.js';
import { areCut, type ShownRecord, shownRecords } from '../agents/shown-records.js';
import type { Columns, Data, Database, PageOptions, ScoreOptions } from '../api/index.js';
import { object } from '../schema/json-schema.js';
import { members, name } from '../schema/option-checks.js';
import { checkMembers, OPTIONS } from '../schema/options.js';
import { type StandardSchema, standardSchema } from './standard-schema.js';

export type { Cut, ShownRecord } from '../agents/shown-records.js';

const { filter, timeRange, limit, columns, distinct, threshold, lexical, prefix, boosts } = OPTIONS.search;
const CHECK = members(
  { description: name, filter, timeRange, limit, columns, distinct, threshold, lexical, prefix, boosts },
  [],
);

/**
 * Options of `searchTool`: `filter`, `timeRange`, `limit` (default: 10), `columns` and `distinct` of {@link PageOptions}, and
 * those of {@link ScoreOptions}. They hold for every call: a language model neither sees nor changes them.
 */
export interface SearchToolOptions<T = Data>
  extends ScoreOptions<T>,
    Pick<PageOptions<T>, 'filter' | 'timeRange' | 'limit' | 'columns' | 'distinct'> {
  /** What the tool finds, for the language model. Say what the records are. Default: a sentence for any records. */
  description?: string | undefined;
}

/** What the tool finds. */
export interface SearchToolOutput {
  /** What is to be known about the results, for the language model. */
  notes: string[];
  /** The records, most similar first. Together they have at most 10,000 characters, so long values are cut. */
  results: ShownRecord[];
  /** The exact number of matches. */
  total: number;
}

/** A tool of the AI SDK. */
export interface AiSearchTool {
  /** What the tool does, for the language model. */
  description: string;
  /** The schema of the input: an object with the text to search for in `query`. */
  inputSchema: StandardSchema<{ query: string }>;
  /** Searches, and returns what the language model reads. */
  execute(
    input: { query: string },
    options: { abortSignal?: AbortSignal | undefined },
  ): Promise<SearchToolOutput>;
}

/**
 * Returns a tool for `generateText`, `streamText` and agents of the AI SDK. A language model can search one database with it,
 * within the options. The model chooses the text, and nothing else. Of a long value that is cut, the passage that matches best
 * is shown.
 *
 * @throws {CosiftError} `invalid_request` for an option that is unknown or has a value that is not allowed.
 *
 * @example
 * ```ts
 * const facts = cosift.database('facts');
 * const tools = { searchFacts: searchTool(facts, { description: 'Finds facts about places', limit: 5 }) };
 * ```
 */
export function searchTool<T extends Columns<T> = Data>(
  database: Database<T>,
  options: SearchToolOptions<T> = {},
): AiSearchTool {
  checkMembers(CHECK, options);
  const { description = SEARCH_DESCRIPTION, limit = DEFAULT_LIMIT, ...fixed } = options;
  return {
    description,
    inputSchema: standardSchema(object(undefined, { query }), members({ query: name }, ['query'])),
    execute: async ({ query }, { abortSignal }) => {
      const given = { ...fixed, limit, total: true, passages: true, signal: abortSignal };
      const page = await database.search(query, given);
      const results = shownRecords(page.results);
      const total = page.total?.value ?? 0;
      const notes = [
        matchesNote(total, results.length),
        ...(areCut(results) ? [`${CUT}.`] : []),
        ...(results.length > 0 ? [`The rest of this object ${IS_DATA}`] : []),
      ];
      return { notes, results, total };
    },
  };
}
