import { count } from './count.js';
import type { TypeOf } from './type-of.js';

export const reembeddingRequest = {
  type: 'object',
  required: ['model'],
  additionalProperties: false,
  properties: {
    model: {
      type: 'string',
      minLength: 1,
      maxLength: 256,
      description: 'A model of the service: the built-in one, or one of the setting `models`.',
    },
  },
  examples: [{ model: 'all-MiniLM-L6-v2' }],
} as const;

export const reembedding = {
  type: 'object',
  required: ['model', 'from', 'state', 'done', 'records', 'started_at'],
  additionalProperties: false,
  properties: {
    model: { type: 'string', description: 'The model that makes the new vectors.' },
    from: {
      type: ['string', 'null'],
      description: 'The model of the current vectors; null: the caller provided them.',
    },
    state: {
      type: 'string',
      enum: ['running', 'switching', 'waiting', 'failed', 'done'],
      description:
        'switching: writes wait until the switch is done. waiting: the service does not have the model. failed: see ' +
        '`problem`; the database keeps its vectors, and the same request resumes the re-embedding.',
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
