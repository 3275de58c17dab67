import type { TypeOf } from './type-of.js';

const count = { type: 'integer', minimum: 0 } as const;

export const reembeddingRequest = {
  type: 'object',
  required: ['model'],
  additionalProperties: false,
  properties: {
    model: {
      type: 'string',
      minLength: 1,
      maxLength: 256,
      description: 'A model that the service has: the built-in one, or one of its setting `models`.',
    },
  },
  examples: [{ model: 'all-MiniLM-L6-v2' }],
} as const;

export const reembedding = {
  type: 'object',
  required: ['model', 'from', 'state', 'done', 'records', 'started_at'],
  additionalProperties: false,
  properties: {
    model: { type: 'string', description: 'The model that the records get vectors of.' },
    from: {
      type: ['string', 'null'],
      description: 'The model of the vectors they have; null: vectors of the caller.',
    },
    state: {
      type: 'string',
      enum: ['running', 'switching', 'waiting', 'failed', 'done'],
      description:
        'switching: writes wait for the moment. waiting: the service lacks the model. failed: see `problem`; ' +
        'the database is as it was, and the same request goes on.',
    },
    done: { ...count, description: 'Records that have their new vector.' },
    records: { ...count, description: 'Records of the database.' },
    started_at: { type: 'string', format: 'date-time' },
    problem: {
      type: 'object',
      required: ['code', 'detail'],
      additionalProperties: false,
      properties: { code: { type: 'string' }, detail: { type: 'string' } },
    },
  },
} as const;

export type ReembeddingRequest = TypeOf<typeof reembeddingRequest>;
export type Reembedding = TypeOf<typeof reembedding>;

declare module './type-of.js' {
  interface NamedTypes {
    Reembedding: Reembedding;
  }
}
