import { count, list, object, oneOf, text } from './json-schema.js';
import { LIMITS, MAX_EMBEDDED_TEXTS } from './limits.js';

const input = { type: 'string', minLength: 1 } as const;

/** In the form that clients of OpenAI send. */
export const embeddingsRequest = object(
  'Texts to embed.',
  {
    input: {
      anyOf: [input, list(input, 'Texts.', { minItems: 1, maxItems: MAX_EMBEDDED_TEXTS })],
      description: `A text, or up to ${MAX_EMBEDDED_TEXTS} texts, each of at most ${LIMITS.search_text_bytes} bytes of UTF-8.`,
    },
    'model?': {
      type: 'string',
      minLength: 1,
      maxLength: 256,
      description:
        'A model of the service: the built-in one, `multilingual-e5-small` if its package is installed, or one of the setting ' +
        '`models`. Default: the built-in one.',
    },
    'encoding_format?': oneOf(
      ['float', 'base64'],
      'How vectors are written: as numbers, or as base64 of their values in single precision, the lowest byte first. Default: `float`.',
    ),
    'kind?': oneOf(
      ['query', 'record'],
      'Whether the texts are searches or texts of records: some models embed both in different ways. Default: `query`.',
    ),
  },
  { examples: [{ model: 'all-MiniLM-L6-v2', input: ['a tall tower', 'deep water'] }] },
);

/** In the form that clients of OpenAI read. */
export const embeddings = object('The vectors of texts.', {
  object: oneOf(['list'], 'The kind of this object.'),
  data: list(
    object('The vector of a text.', {
      object: oneOf(['embedding'], 'The kind of this object.'),
      index: count('The place of the text in `input`.'),
      embedding: {
        anyOf: [list({ type: 'number' }, 'Numbers.'), text('Base64.')],
        description: 'The unit vector of the text, as `encoding_format` says.',
      },
    }),
    'The vectors in the order of the texts.',
  ),
  model: text('The model that made the vectors.'),
  usage: object('The tokens of all texts; 0 for a model that does not tell: an endpoint or a function.', {
    prompt_tokens: count('Tokens of all texts.'),
    total_tokens: count('The same number.'),
  }),
});
