import { column } from './filter.js';
import { recordId } from './ids.js';
import { list, object } from './json-schema.js';
import { DEFAULTS, LIMITS, MAX_COLUMNS, MAX_CURSOR_LENGTH, MAX_EXAMPLES } from './limits.js';

function examplesSchema(description: string, minItems: number) {
  return list(recordId, description, { minItems, maxItems: MAX_EXAMPLES });
}

export const search = {
  type: 'object',
  description: 'What to search for: a text, in a database with a model, a vector, or examples.',
  additionalProperties: false,
  oneOf: [
    { required: ['text'], not: { anyOf: [{ required: ['vector'] }, { required: ['like'] }] } },
    { required: ['vector'], not: { required: ['like'] }, dependentRequired: { text: ['lexical'] } },
    { required: ['like'], not: { anyOf: [{ required: ['text'] }, { required: ['vector'] }] } },
  ],
  properties: {
    text: {
      type: 'string',
      minLength: 1,
      description:
        `Text to search for by meaning, at most ${LIMITS.search_text_bytes} bytes of UTF-8. Only for a database with a model. ` +
        'Beside `vector`, and only with `lexical`, it is the text whose words are searched for.',
    },
    vector: {
      type: 'array',
      minItems: 1,
      maxItems: 4096,
      items: { type: 'number' },
      description:
        'A vector with as many values as the database has dimensions, such as one that the model of the database made.',
    },
    like: object(
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
    threshold: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      description:
        'Minimum relevance score of the results: 0 means unrelated, 1 the same meaning; a score equal to it passes. ' +
        `Default: ${DEFAULTS.threshold}; with \`lexical\`, ${DEFAULTS.threshold} times (1 - lexical).`,
    },
    lexical: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      description:
        'Weight of exact words in the relevance score: it is (1 - lexical) times the similarity in meaning plus ' +
        'lexical times the lexical score. Above 0 only for a database with the setting `lexical`. Default: 0.',
    },
  },
} as const;

export const pagination = {
  type: 'object',
  description: 'Which page of the matches to return.',
  additionalProperties: false,
  properties: {
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: 100,
      description: `Maximum number of results on the page. Default: ${DEFAULTS.limit}.`,
    },
    cursor: {
      type: 'string',
      maxLength: MAX_CURSOR_LENGTH,
      description: '`next_cursor` of a previous response. It never expires. Default: the first page.',
    },
  },
} as const;

const extras = {
  columns: {
    type: 'array',
    maxItems: MAX_COLUMNS,
    items: column,
    description: 'The columns that results show in their `data`; an empty list for none. Default: all.',
  },
  total: { type: 'boolean', description: 'Also count every match, on all pages. Default: false.' },
  facets: {
    type: 'array',
    minItems: 1,
    maxItems: 16,
    items: { $ref: '#/components/schemas/Facet' },
    description: 'Also count the matches, on all pages, by value or interval.',
  },
  vectors: {
    type: 'boolean',
    description:
      'Also show the stored vectors of each record, in the members of an export. A key needs `records.read`. ' +
      'Default: false.',
  },
  explain: {
    type: 'boolean',
    description: 'Also explain how the page was found, and which rules each record passed. Default: false.',
  },
} as const;

/** The schema of an order, by a column or by one of these times. */
export function sortSchema(names: readonly string[]) {
  return {
    type: 'object',
    description: 'Order of the results; ties by id. Default: last synced first.',
    additionalProperties: false,
    oneOf: [{ required: ['column'] }, { required: ['time'] }],
    properties: {
      column: {
        ...column,
        description:
          'The column to sort by: booleans, then numbers, then strings. Records without a value are last in both directions.',
      },
      time: { type: 'string', enum: names, description: 'The time of the records to sort by.' },
      direction: {
        type: 'string',
        enum: ['asc', 'desc'],
        description: 'Ascending or descending. Default: `asc`.',
      },
    },
  } as const;
}

export const sort = sortSchema(['created_at', 'changed_at', 'synced_at']);

export function searchRequestSchema(group: string) {
  return {
    type: 'object',
    description: 'A search by meaning.',
    required: ['search'],
    additionalProperties: false,
    properties: {
      search: { $ref: '#/components/schemas/Search' },
      filter: {
        $ref: `#/components/schemas/${group}`,
        description: 'Rules that every result satisfies. Default: all records.',
      },
      time_range: { $ref: '#/components/schemas/TimeRange' },
      pagination: { $ref: '#/components/schemas/Pagination' },
      passages: {
        type: 'boolean',
        description:
          'Also show which passage of a long record matches best, in the member `passage` of its result. Default: false.',
      },
      ...extras,
    },
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
  } as const;
}

export function queryRequestSchema(group: string, sort: string) {
  return {
    type: 'object',
    description: 'A selection of records without a search.',
    additionalProperties: false,
    properties: {
      filter: {
        $ref: `#/components/schemas/${group}`,
        description: 'Rules that every result satisfies. Default: all records.',
      },
      time_range: { $ref: '#/components/schemas/TimeRange' },
      sort: { $ref: `#/components/schemas/${sort}` },
      pagination: { $ref: '#/components/schemas/Pagination' },
      ...extras,
    },
    examples: [
      {
        filter: { condition: 'AND', rules: [{ column: 'height_m', operator: 'greater_than', value: 100 }] },
        sort: { column: 'height_m', direction: 'desc' },
        pagination: { limit: 10 },
      },
    ],
  } as const;
}

export const searchRequest = searchRequestSchema('FilterGroup');
export const queryRequest = queryRequestSchema('FilterGroup', 'Sort');
