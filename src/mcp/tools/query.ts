import { DEFAULT_LIMIT } from '../../agents/search-tool.js';
import { column } from '../../schema/filter.js';
import { list, object } from '../../schema/json-schema.js';
import type { Sort } from '../../schema/public-types.js';
import { sort } from '../../schema/search.js';
import { parseWhere } from '../../where/parse-where.js';
import { pageOutcome } from '../page-outcome.js';
import { columns, database, pageMembers, paging, type Tool, where } from '../tool.js';

interface Arguments {
  database: string;
  where?: string;
  columns?: string[];
  sort?: Sort;
  count_by?: string[];
  limit?: number;
  cursor?: string;
}

export const QUERY: Tool<Arguments> = {
  name: 'query',
  title: 'Filter, sort and count',
  description:
    'Returns the records of a database that pass a filter, in the order of a column, and counts all of them; with count_by ' +
    'also by the values of columns. Use search to find by meaning.',
  action: 'search',
  input: object(undefined, {
    database,
    'where?': where,
    'columns?': columns,
    'sort?': sort,
    'count_by?': list(
      column,
      'Columns whose ten most frequent values are counted, over all matches. Default: none.',
      { minItems: 1, maxItems: 5 },
    ),
    ...paging,
  }),
  output: object(undefined, {
    ...pageMembers,
    'counts?': list({ type: 'object' }, 'With count_by: the most frequent values of each column.'),
  }),
  run: async (
    { database, where, count_by: counted = [], limit = DEFAULT_LIMIT, ...given },
    target,
    { signal, mayGet },
  ) => {
    const filter = where === undefined ? undefined : parseWhere(where);
    const facets = counted.map((column) => ({ column }));
    const options = { ...given, filter, limit, total: true, ...(facets.length > 0 && { facets }), signal };
    const page = await target.databases.database(database).query(options);
    const named = [
      ...(given.columns ?? []),
      ...counted,
      ...(given.sort?.column === undefined ? [] : [given.sort.column]),
    ];
    return await pageOutcome(page, database, target, { filter, named, mayGet });
  },
};
