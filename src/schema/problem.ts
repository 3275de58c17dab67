import { ERRORS, PROBLEM_CODES } from '../errors.js';
import { instant, list, object, oneOf, text } from './json-schema.js';

const codes = Object.keys(ERRORS) as (keyof typeof ERRORS)[];

/** Code of a failed request or stream. */
export const errorCode = oneOf(codes, 'For programs. Codes are never renamed.');

/** Code of one problem of a request or of one line. */
export const problemCode = oneOf(
  Object.keys(PROBLEM_CODES) as (keyof typeof PROBLEM_CODES)[],
  'For programs. Codes are never renamed.',
);

/** Facts of some codes, as extension members of the body: the `fields` of a `CosiftError`. */
export const facts = {
  expected: { type: 'integer', description: '`invalid_dimensions`: the dimensions of the database.' },
  got: { type: 'integer', description: '`invalid_dimensions`: the number of values of the vector.' },
  epoch: text('`feed_restarted`: the epoch of the current change feed.'),
  after: { type: 'integer', description: '`changes_removed`: the position after which changes are kept.' },
  limit: { type: 'integer', description: '`busy`: the number of calls that run and wait at most.' },
  max: {
    type: 'integer',
    description:
      '`too_large`: the maximum number of bytes, or of values; `deletion_refused`: of records to delete.',
  },
  missing: {
    type: 'integer',
    description: '`deletion_refused`: the number of records that would have been deleted.',
  },
} as const;

/** A fact of a problem. */
export const changedAt = instant(
  '`precondition_failed`: when the stored record was last changed; absent if there is none.',
);

export const PROBLEM_FACTS = Object.keys(facts) as (keyof typeof facts)[];

export const problem = {
  type: 'object',
  description: 'The body of every error response (RFC 9457).',
  required: ['type', 'title', 'status', 'detail', 'code', 'request_id'],
  properties: {
    type: text('Identifies the code. It need not be fetched.'),
    title: text('What the code means.'),
    status: { type: 'integer', minimum: 400, maximum: 599, description: 'The HTTP status.' },
    detail: text('For people. The wording may change.'),
    code: errorCode,
    request_id: text('The `x-request-id` of the response.'),
    errors: list(
      object('One member of the request that is not valid.', {
        pointer: text('JSON pointer into the request body.'),
        detail: text('For people. The wording may change.'),
        code: problemCode,
        'changed_at?': changedAt,
      }),
      'The members of the request that are not valid.',
    ),
    ...facts,
  },
} as const;
