import { embed } from './databases.js';
import { count, instant, object, oneOf, text } from './json-schema.js';

export const reembeddingRequest = object(
  'The model with which to embed all records again.',
  {
    model: {
      type: 'string',
      minLength: 1,
      maxLength: 256,
      description:
        'A model of the service: the built-in one, `multilingual-e5-small` if its package is installed, or one of the setting `models`.',
    },
  },
  { examples: [{ model: 'all-MiniLM-L6-v2' }] },
);

export const reembedding = object(
  'The state of a re-embedding: the records of a database get vectors of another model, or of other columns.',
  {
    model: text('The model that makes the new vectors.'),
    embed,
    from: {
      type: ['string', 'null'],
      description: 'The model of the current vectors; null: the caller provided them.',
    },
    state: oneOf(
      ['running', 'switching', 'waiting', 'failed', 'done'],
      'running: texts are embedded. switching: writes wait until the switch is done. waiting: the service does not have the model. failed: see ' +
        '`problem`; the database keeps its vectors, and the same request resumes the re-embedding.',
    ),
    done: count('Records that have their new vector.'),
    records: count('Records of the database.'),
    started_at: instant('When it began.'),
    'problem?': object('Why the re-embedding failed or waits.', {
      code: text('An error code, for programs.'),
      detail: text('For people. The wording may change.'),
    }),
  },
);
