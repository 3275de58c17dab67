import { count } from './count.js';

export const reembeddingRequest = {
  type: 'object',
  description: 'The model with which to embed all records again.',
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
  description: 'The state of a re-embedding: all records of a database get vectors of another model.',
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
        'running: texts are embedded. switching: writes wait until the switch is done. waiting: the service does not have the model. failed: see ' +
        '`problem`; the database keeps its vectors, and the same request resumes the re-embedding.',
    },
    done: { ...count, description: 'Records that have their new vector.' },
    records: { ...count, description: 'Records of the database.' },
    started_at: { type: 'string', format: 'date-time', description: 'When it began.' },
    problem: {
      type: 'object',
      description: 'Why the re-embedding failed or waits.',
      required: ['code', 'detail'],
      additionalProperties: false,
      properties: {
        code: { type: 'string', description: 'An error code, for programs.' },
        detail: { type: 'string', description: 'For people. The wording may change.' },
      },
    },
  },
} as const;
