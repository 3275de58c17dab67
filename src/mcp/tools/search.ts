import { object } from '../../schema/json-schema.js';
import { DEFAULTS, LIMITS } from '../../schema/limits.js';
import { parseWhere } from '../../where/parse-where.js';
import { pageOutcome } from '../page-outcome.js';
import { columns, DEFAULT_LIMIT, database, pageMembers, paging, type Tool, where } from '../tool.js';

interface Arguments {
  database: string;
  query: string;
  where?: string;
  columns?: string[];
  threshold?: number;
  limit?: number;
  cursor?: string;
}

export const SEARCH: Tool<Arguments> = {
  name: 'search',
  title: 'Search by meaning',
  description:
    'Finds the records of a database that are similar in meaning to a text, most similar first, and counts all of them. Of a ' +
    'long text, the passage that matches best is shown.',
  action: 'search',
  input: object(undefined, {
    database,
    query: {
      type: 'string',
      minLength: 1,
      maxLength: LIMITS.search_text_bytes,
      description: 'What to look for, in plain words: a question, a description or a few words.',
    },
    'where?': where,
    'columns?': columns,
    'threshold?': {
      type: 'number',
      minimum: 0,
      maximum: 1,
      description:
        'Minimum relevance score: 0 is unrelated, 1 the same meaning. Default: that of the database, or ' +
        `${DEFAULTS.threshold}.`,
    },
    ...paging,
  }),
  output: object(undefined, pageMembers),
  run: async ({ database, query, where, limit = DEFAULT_LIMIT, ...given }, target, { signal, mayGet }) => {
    const filter = where === undefined ? undefined : parseWhere(where);
    const options = { ...given, filter, limit, total: true, passages: true, signal };
    const page = await target.databases.database(database).search(query, options);
    return await pageOutcome(page, database, target, { filter, named: given.columns ?? [], mayGet });
  },
};
