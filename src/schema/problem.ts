import { ERRORS, PROBLEM_CODES } from '../errors.js';

const codes = Object.keys(ERRORS) as (keyof typeof ERRORS)[];

/** Code of a failed request or stream. */
export const errorCode = {
  type: 'string',
  enum: codes,
  description: 'For programs. Codes are never renamed.',
} as const;

/** Code of one problem of a request or of one line. */
export const problemCode = {
  type: 'string',
  enum: Object.keys(PROBLEM_CODES) as (keyof typeof PROBLEM_CODES)[],
  description: 'For programs. Codes are never renamed.',
} as const;

/** Facts of some codes, as extension members of the body: the `fields` of a `CosiftError`. */
const facts = {
  expected: { type: 'integer', description: '`invalid_dimensions`: the dimensions of the database.' },
  got: { type: 'integer', description: '`invalid_dimensions`: the number of values of the vector.' },
  epoch: { type: 'string', description: '`feed_restarted`: the epoch of the current change feed.' },
  after: { type: 'integer', description: '`changes_removed`: the position after which changes are kept.' },
  limit: { type: 'integer', description: '`busy`: the number of calls that run and wait at most.' },
  max: { type: 'integer', description: '`too_large`: the maximum number of bytes, or of values.' },
} as const;

export const PROBLEM_FACTS = Object.keys(facts) as (keyof typeof facts)[];

export const problem = {
  type: 'object',
  description: 'The body of every error response (RFC 9457).',
  required: ['type', 'title', 'status', 'detail', 'code', 'request_id'],
  properties: {
    type: { type: 'string', description: 'Identifies the code. It need not be fetched.' },
    title: { type: 'string', description: 'What the code means.' },
    status: { type: 'integer', minimum: 400, maximum: 599, description: 'The HTTP status.' },
    detail: { type: 'string', description: 'For people. The wording may change.' },
    code: errorCode,
    request_id: { type: 'string', description: 'The `x-request-id` of the response.' },
    errors: {
      type: 'array',
      description: 'The members of the request that are not valid.',
      items: {
        type: 'object',
        description: 'One member of the request that is not valid.',
        required: ['pointer', 'detail', 'code'],
        additionalProperties: false,
        properties: {
          pointer: { type: 'string', description: 'JSON pointer into the request body.' },
          detail: { type: 'string', description: 'For people. The wording may change.' },
          code: problemCode,
        },
      },
    },
    ...facts,
  },
} as const;
