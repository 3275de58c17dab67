import { DEFAULT_LIMIT, query, SEARCH_DESCRIPTION } from '../../agents/search-tool.js';
import { object } from '../../schema/json-schema.js';
import { DEFAULTS } from '../../schema/limits.js';
import { parseWhere } from '../../where/parse-where.js';
import { pageOutcome } from '../page-outcome.js';
import { columns, database, pageMembers, paging, type Tool, where } from '../tool.js';

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
  description: SEARCH_DESCRIPTION,
  action: 'search',
  input: object(undefined, {
    database,
    query,
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
