import { DEFAULT_LIMIT } from '../agents/search-tool.js';
import { column } from '../schema/filter.js';
import { DATABASE_ID } from '../schema/ids.js';
import { count, list, text } from '../schema/json-schema.js';
import type { Action } from '../schema/keys.js';
import { MAX_CURSOR_LENGTH } from '../schema/limits.js';
import type { Outcome } from './outcome.js';
import type { Target } from './target.js';

/** What an agent can call. `Arguments` are what `input` describes. */
export interface Tool<Arguments = unknown> {
  name: string;
  title: string;
  description: string;
  input: Schema;
  output: Schema;
  /** What the key has to be allowed; absent if any key will do. */
  action?: Action;
  run(given: Arguments, target: Target, call: Call): Promise<Outcome>;
}

export interface Call {
  signal: AbortSignal;
  /** Whether the agent has the tool `get`. */
  mayGet: boolean;
}

/** The JSON schema of an object. */
export interface Schema {
  type: 'object';
  [keyword: string]: unknown;
}

export const database = {
  type: 'string',
  pattern: DATABASE_ID.source,
  description: 'Id of the database, as list_databases shows it.',
} as const;

export const where = {
  type: 'string',
  minLength: 1,
  maxLength: 10_000,
  description:
    "Filter that every record passes, such as `price < 3 and (section = 'graphics' or tags contains 'x')`. Texts are in " +
    'quotes. Operators: = != < <= > >= in, not in, contains, not contains, starts with, ends with, is empty, is not empty, ' +
    "before, after, on or before, on or after (dates such as '2026-01-31'); and binds closer than or. Default: all records.",
} as const;

export const columns = list(
  column,
  'The columns to show. Fewer columns leave more room for each. Default: all.',
  { maxItems: 100 },
);

/** The arguments of a tool that returns a page. */
export const paging = {
  'limit?': {
    type: 'integer',
    minimum: 1,
    maximum: 50,
    description: `Maximum number of records. Default: ${DEFAULT_LIMIT}. More records have less room each.`,
  },
  'cursor?': {
    type: 'string',
    minLength: 1,
    maxLength: MAX_CURSOR_LENGTH,
    description:
      '`next_cursor` of the result before, with otherwise the same arguments, for the next records.',
  },
} as const;

/** What every result says. */
export const notes = list({ type: 'string' }, 'What is to be known about this result.');

/** The results of a page. */
export const pageMembers = {
  notes,
  'warnings?': list({ type: 'string' }, 'Columns of the arguments that no record has.'),
  results: list({ type: 'object' }, 'The records, in their order.'),
  total: count('The exact number of matches on all pages.'),
  'next_cursor?': text('`cursor` for the next records; absent if these are the last.'),
};
