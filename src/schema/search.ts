import { column } from './filter.js';
import { recordId } from './ids.js';
import { flag, list, object, oneOf, ref } from './json-schema.js';
import {
  DEFAULTS,
  LIMITS,
  MAX_BOOSTS,
  MAX_COLUMNS,
  MAX_CURSOR_LENGTH,
  MAX_EXAMPLES,
  MAX_NEIGHBOURS,
  MAX_PASSAGES,
} from './limits.js';

function examplesSchema(description: string, minItems: number) {
  return list(recordId, description, { minItems, maxItems: MAX_EXAMPLES });
}

const boostWeight = {
  type: 'number',
  minimum: 0,
  maximum: 1,
  description: 'Weight of the boost in the relevance score. The weights of a search are at most 1 together.',
} as const;

/** The schema of a boost by a filter whose schema is `group`. */
export function filterBoostSchema(group: string) {
  return object('Adds its weight to the relevance score of records that pass a filter.', {
    weight: boostWeight,
    filter: ref(group, 'The boost is 1 where the filter passes, otherwise 0.'),
  });
}

/** The schema of a boost by the nearness of a column, or of one of these times. */
export function nearnessBoostSchema(times: readonly string[]) {
  return object(
    'Adds to the relevance score its weight times max(0, 1 - |value - target| / scale); nothing for a record without a ' +
      'value.',
    {
      weight: boostWeight,
      'column?': {
        ...column,
        description:
          'The column of the value: a number, or with a `target` that is a text a string that is a date or a time.',
      },
      'time?': oneOf(times, 'The time of the record that is the value.'),
      target: {
        type: ['number', 'string'],
        description:
          'The value that counts most: a number, or a date or time in ISO 8601; of a time of the record also ' +
          'milliseconds since 1970. A search for what is near the present time states that time.',
      },
      scale: {
        type: ['number', 'string'],
        description:
          'The distance from which on a value counts nothing, above 0; for times an ISO 8601 duration of weeks, days, ' +
          'hours, minutes and seconds, such as `P30D` or `PT12H`, or milliseconds.',
      },
    },
    { oneOf: [{ required: ['column'] }, { required: ['time'] }] },
  );
}

/** The schema of a boost of one of these schemas. */
export function boostSchema(ofFilter: string, ofNearness: string) {
  return {
    description: 'A part of the relevance score that depends on the data or the times of the record.',
    if: { type: 'object', required: ['filter'] },
    // biome-ignore lint/suspicious/noThenProperty: the keyword's name
    then: ref(ofFilter),
    else: ref(ofNearness),
  } as const;
}

const TIMES = ['created_at', 'changed_at', 'synced_at'];

export const filterBoost = filterBoostSchema('FilterGroup');
export const nearnessBoost = nearnessBoostSchema(TIMES);
export const boost = boostSchema('FilterBoost', 'NearnessBoost');

/** The schema of a search whose boosts have this schema. */
export function searchSchema(boost: string) {
  return object(
    'What to search for: a text, in a database with a model, a vector, or examples.',
    {
      'text?': {
        type: 'string',
        minLength: 1,
        description:
          `Text to search for by meaning, at most ${LIMITS.search_text_bytes} bytes of UTF-8. Only for a database with a model. ` +
          'With `vector`, and only with `lexical`, it is the text whose words are searched for.',
      },
      'vector?': list(
        { type: 'number' },
        'A vector with as many values as the database has dimensions, such as one that the model of the database made.',
        { minItems: 1, maxItems: 4096 },
      ),
      'like?': object(
        `Records that are examples, at most ${MAX_EXAMPLES}: the search is for what is like the mean of the positive ones and ` +
          'unlike that of the negative ones. The examples are no results.',
        {
          positive: examplesSchema(
            'Ids of records that results are like: integers, UUIDs, or `key:` and a key.',
            1,
          ),
          'negative?': examplesSchema('Ids of records that results are unlike. Default: none.', 0),
        },
      ),
      'threshold?': {
        type: 'number',
        minimum: 0,
        maximum: 1,
        description:
          'Minimum relevance score of the results: 0 means unrelated, 1 the same meaning; a score equal to it passes. ' +
          `Default: that of the database, or ${DEFAULTS.threshold}; with \`lexical\` and \`boosts\`, ${DEFAULTS.threshold} times (1 - lexical - the weights).`,
      },
      'lexical?': {
        type: 'number',
        minimum: 0,
        maximum: 1,
        description:
          'Weight of exact words in the relevance score: it is (1 - lexical) times the similarity in meaning plus ' +
          'lexical times the lexical score. Above 0 only for a database with the setting `lexical`. ' +
          'Default: that of the database for a search by text, or 0.',
      },
      'prefix?': flag(
        'Whether the last word of the text may be the beginning of a word, as while it is typed. Records with the whole ' +
          'word score higher, and those with a longer word the lower the longer it is. Needs `lexical`. Default: false.',
      ),
      'boosts?': list(
        ref(boost),
        'Parts of the relevance score besides meaning and exact words: it is (1 - lexical - the weights) times the ' +
          'similarity in meaning, plus lexical times the lexical score, plus the sum of weight times boost. Default: none.',
        { maxItems: MAX_BOOSTS },
      ),
    },
    {
      oneOf: [
        { required: ['text'], not: { anyOf: [{ required: ['vector'] }, { required: ['like'] }] } },
        { required: ['vector'], not: { required: ['like'] }, dependentRequired: { text: ['lexical'] } },
        { required: ['like'], not: { anyOf: [{ required: ['text'] }, { required: ['vector'] }] } },
      ],
    },
  );
}

export const search = searchSchema('Boost');

export const pagination = object('Which page of the matches to return.', {
  'limit?': {
    type: 'integer',
    minimum: 1,
    maximum: 100,
    description: `Maximum number of results on the page. Default: that of the database, or ${DEFAULTS.limit}.`,
  },
  'cursor?': {
    type: 'string',
    maxLength: MAX_CURSOR_LENGTH,
    description: '`next_cursor` of a previous response. It never expires. Default: the first page.',
  },
});

/** The schema of `distinct`: a column, or an object with it. */
const distinct = {
  anyOf: [
    column,
    object('The column whose values are distinct, and what results show of it.', {
      column,
      'counts?': flag(
        'Also show the value of each result and how many matches have it, in the member `group`. Default: false.',
      ),
    }),
  ],
  description:
    'A column: of the records with an equal value in it, only the first in the order of the results is a result. Records ' +
    'without a value stand for themselves. `total` counts results, and facets count all matches.',
} as const;

const extras = {
  'columns?': list(
    column,
    'The columns that results show in their `data`; an empty list for none. Default: all.',
    { maxItems: MAX_COLUMNS },
  ),
  'total?': flag('Also count every match, on all pages. Default: false.'),
  'facets?': list(ref('Facet'), 'Also count the matches, on all pages, by value or interval.', {
    minItems: 1,
    maxItems: 16,
  }),
  'distinct?': distinct,
  'vectors?': flag(
    'Also show the stored vectors of each record, in the members of an export. A key needs `records.read`. ' +
      'Default: false.',
  ),
  'explain?': flag(
    'Also explain how the page was found, and which rules each record passed. Default: false.',
  ),
};

/** The schema of an order, by a column or by one of these times. */
export function sortSchema(names: readonly string[]) {
  return object(
    'Order of the results; ties by id. Default: last synced first.',
    {
      'column?': {
        ...column,
        description:
          'The column to sort by: booleans, then numbers, then strings; a list by its smallest element, or in descending order ' +
          'by its largest. Records without a value, or with an empty list, are last in both directions.',
      },
      'time?': oneOf(names, 'The time of the records to sort by.'),
      'direction?': oneOf(['asc', 'desc'], 'Ascending or descending. Default: `asc`.'),
    },
    { oneOf: [{ required: ['column'] }, { required: ['time'] }] },
  );
}

export const sort = sortSchema(TIMES);

export function searchRequestSchema(search: string, group: string) {
  return object(
    'A search by meaning.',
    {
      search: ref(search),
      'filter?': ref(group, 'Rules that every result satisfies. Default: all records.'),
      'time_range?': ref('TimeRange'),
      'pagination?': ref('Pagination'),
      'passages?': {
        anyOf: [{ type: 'boolean' }, { type: 'integer', minimum: 1, maximum: MAX_PASSAGES }],
        description:
          'True: also show which passage of a long record matches best, in the member `passage` of its result. A number: show ' +
          'so many of the best passages of each result with their texts, in its member `best_passages`. Default: false.',
      },
      'neighbours?': {
        type: 'integer',
        minimum: 1,
        maximum: MAX_NEIGHBOURS,
        description:
          'With a number as `passages`: how many passages before and after each one are joined with it. Default: none.',
      },
      'highlights?': flag(
        'Also show which words of each result match those of the text, in its member `highlights`. Needs `lexical` in ' +
          '`search`. Default: false.',
      ),
      ...extras,
    },
    {
      examples: [
        {
          search: { text: 'towers that were once the tallest building in the world', threshold: 0.3 },
          filter: {
            condition: 'AND',
            rules: [{ column: 'country', operator: 'equals', value: 'France' }],
          },
          time_range: { start_time: '2026-01-01T00:00:00Z' },
          pagination: { limit: 10 },
        },
      ],
    },
  );
}

export function queryRequestSchema(group: string, sort: string) {
  return object(
    'A selection of records without a search.',
    {
      'filter?': ref(group, 'Rules that every result satisfies. Default: all records.'),
      'time_range?': ref('TimeRange'),
      'sort?': ref(sort),
      'pagination?': ref('Pagination'),
      ...extras,
    },
    {
      examples: [
        {
          filter: { condition: 'AND', rules: [{ column: 'height_m', operator: 'greater_than', value: 100 }] },
          sort: { column: 'height_m', direction: 'desc' },
          pagination: { limit: 10 },
        },
      ],
    },
  );
}

export const searchRequest = searchRequestSchema('Search', 'FilterGroup');
export const queryRequest = queryRequestSchema('FilterGroup', 'Sort');
