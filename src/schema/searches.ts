import { MAX_SEARCHES } from './limits.js';

/** The schema of a batch of searches of this schema. */
export function searchesRequestSchema(search: string) {
  return {
    type: 'object',
    description: 'A batch of searches.',
    required: ['searches'],
    additionalProperties: false,
    properties: {
      searches: {
        type: 'array',
        minItems: 1,
        maxItems: MAX_SEARCHES,
        items: { $ref: `#/components/schemas/${search}` },
        description: 'The searches. One that is not valid leaves the others.',
      },
    },
    examples: [
      {
        searches: [
          { search: { text: 'a tall tower' }, pagination: { limit: 3 } },
          { search: { text: 'a deep lake' }, pagination: { limit: 3 } },
        ],
      },
    ],
  } as const;
}

export const searchesRequest = searchesRequestSchema('SearchRequest');

/** The schema of what a search of a batch results in: a page of this schema, or a problem. */
export function searchOutcomeSchema(page: string) {
  return {
    description: 'What a search of a batch results in.',
    oneOf: [
      {
        type: 'object',
        description: 'A search that succeeded.',
        required: ['status', 'page'],
        additionalProperties: false,
        properties: {
          status: { const: 200, description: 'The HTTP status of the search.' },
          page: { $ref: `#/components/schemas/${page}` },
        },
      },
      {
        type: 'object',
        description: 'A search that failed.',
        required: ['status', 'problem'],
        additionalProperties: false,
        properties: {
          status: {
            enum: [400, 403],
            description: 'The HTTP status of the search. 403: it asks for more than the key may read.',
          },
          problem: { $ref: '#/components/schemas/Problem' },
        },
      },
    ],
  } as const;
}

export const searchOutcome = searchOutcomeSchema('Page');

/** The schema of the response to a batch of searches with outcomes of this schema. */
export function searchOutcomesSchema(outcome: string) {
  return {
    type: 'object',
    description: 'What the searches of a batch result in.',
    required: ['pages', 'failed'],
    additionalProperties: false,
    properties: {
      pages: {
        type: 'array',
        items: { $ref: `#/components/schemas/${outcome}` },
        description:
          'A page or a problem for each search, in the order of the request. All pages show the same moment.',
      },
      failed: { type: 'integer', minimum: 0, description: 'Number of searches that failed.' },
    },
  } as const;
}

export const searchOutcomes = searchOutcomesSchema('SearchOutcome');
