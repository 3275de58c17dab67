import { databaseId } from './ids.js';
import { count, instant, list, object, ref, text } from './json-schema.js';
import { DEFAULTS, MAX_PASSAGE_TOKENS, MAX_PASSAGES_PER_RECORD, MAX_WORD_COLUMNS } from './limits.js';
import { valueFormat, valueFormats } from './value-formats.js';

const passages = {
  'per_record?': {
    type: 'integer',
    minimum: 1,
    maximum: MAX_PASSAGES_PER_RECORD,
    description: `Passages that a text may have; a record with more is refused. Default: ${DEFAULTS.passages_per_record}.`,
  },
  'tokens?': {
    type: 'integer',
    minimum: 16,
    maximum: MAX_PASSAGE_TOKENS,
    description:
      'Tokens of a passage at most, with those that the model adds; at most its window. A text with more is split. ' +
      'Default: half of the window, and only a text that is longer than the window is split.',
  },
  'overlap?': {
    type: 'integer',
    minimum: 0,
    maximum: MAX_PASSAGE_TOKENS / 2,
    description:
      'Tokens that a passage repeats of the one before it, at most; at most half of the tokens of a passage. ' +
      'Default: an eighth.',
  },
} as const;

const passageSettings = object('How long texts are split into passages, which have a vector each.', passages);

export const embed = object(
  'Which text of a record is embedded. Default: every column with a string, or with a list with a string, as `column: value` ' +
    'lines. The elements of a list are joined by `, `.',
  {
    'passages?': passageSettings,
    'columns?': list(
      { type: 'string', minLength: 1, maxLength: 256 },
      'Columns to embed, in this order. Default: every string column.',
      { minItems: 1, maxItems: 256, uniqueItems: true },
    ),
  },
);

const model = {
  type: 'string',
  minLength: 1,
  maxLength: 256,
  description:
    'Name of the embedding model: the built-in one, `multilingual-e5-small` if its package is installed, or one of the setting ' +
    '`models`. Default: the built-in one, unless `dimensions` is given.',
} as const;

/** The schema of the setting `lexical`, whose columns have weights of this schema. `others` are further types. */
function lexicalSchema(weight: { type: string | readonly string[] }, ...others: object[]) {
  return {
    anyOf: [
      { type: 'boolean' },
      object('The columns whose words count.', {
        columns: {
          type: 'object',
          minProperties: 1,
          maxProperties: MAX_WORD_COLUMNS,
          propertyNames: { minLength: 1, maxLength: 256 },
          additionalProperties: weight,
          description:
            'The columns, each with a weight from 1 to 100: matches of words count by the weight as a part of the highest one.',
        },
      }),
      ...others,
    ],
    description:
      'Whether searches can take exact words into account: those of the embedded columns, or of the named ones, embedded or ' +
      'not. The index of the words takes memory. Default: false.',
  } as const;
}

const wordWeight = { type: 'integer', minimum: 1, maximum: 100 } as const;

const lexical = lexicalSchema(wordWeight);

const flatten = {
  type: 'boolean',
  description:
    'Whether records may have nested objects: their members are columns such as `address.city`. A list with objects, lists ' +
    'or null in it is then its JSON text, and so is an object below 16 names. Concerns what is written from then on. Default: false.',
} as const;

const defaults = {
  'threshold?': {
    type: 'number',
    minimum: 0,
    maximum: 1,
    description: 'The `threshold` of searches.',
  },
  'lexical?': {
    type: 'number',
    minimum: 0,
    maximum: 1,
    description: 'The `lexical` of searches for a text. Above 0 only with the setting `lexical`.',
  },
  'limit?': {
    type: 'integer',
    minimum: 1,
    maximum: 100,
    description: 'The `limit` of searches and queries.',
  },
} as const;

const searchDefaults = object(
  'The values of members that a search or a query leaves out. A page after a cursor has the threshold and the weight of ' +
    'words that the page before had.',
  defaults,
);

export const databaseSettings = object(
  'The settings of a database. All but `dimensions` can be changed later.',
  {
    'embed?': embed,
    'model?': model,
    'dimensions?': {
      type: 'integer',
      minimum: 1,
      maximum: 4096,
      description:
        'Number of values of each vector. Records and searches then bring their own vectors, and the database has no model.',
    },
    'lexical?': lexical,
    'flatten?': flatten,
    'defaults?': searchDefaults,
    'formats?': ref('ValueFormats'),
  },
  {
    examples: [
      { embed: { columns: ['title', 'description'] } },
      { embed: { passages: { per_record: 1024 } } },
      { dimensions: 768 },
    ],
  },
);

/** A schema that also allows null, which removes a member. */
function removable<const S extends { type: string }>(schema: S) {
  return { ...schema, type: [schema.type, 'null'] as const };
}

export const databaseChanges = object(
  'Changes of the settings of a database, as a JSON merge patch (RFC 7396): what is left out stays, and null removes a ' +
    'setting, which then has its default. `embed` and `model` change once every record has its new vector.',
  {
    'embed?': removable(
      object(embed.description, {
        'columns?': removable(embed.properties.columns),
        'passages?': removable(
          object(passageSettings.description, {
            'per_record?': removable(passages['per_record?']),
            'tokens?': removable(passages['tokens?']),
            'overlap?': removable(passages['overlap?']),
          }),
        ),
      }),
    ),
    'model?': model,
    'lexical?': lexicalSchema(removable(wordWeight), { type: 'null' }),
    'flatten?': removable(flatten),
    'defaults?': removable(
      object(searchDefaults.description, {
        'threshold?': removable(defaults['threshold?']),
        'lexical?': removable(defaults['lexical?']),
        'limit?': removable(defaults['limit?']),
      }),
    ),
    'formats?': removable({ ...valueFormats, additionalProperties: removable(valueFormat) }),
  },
  { examples: [{ defaults: { threshold: 0.1, limit: null } }, { embed: { columns: ['title'] } }] },
);

function score(description: string) {
  return { type: 'number', minimum: 0, maximum: 1, description } as const;
}

export const databaseDescription = object('Settings, columns, sizes and times of a database.', {
  id: databaseId,
  records: count('Number of records.'),
  'passages?': count('Number of vectors: one for each record, or one for each passage of a long record.'),
  'without_text?': count(
    'Records without text in the embedded columns, or with none that the model knows. They have no vector, so no ' +
      'search finds them.',
  ),
  model: {
    type: ['string', 'null'],
    description: 'Name of the embedding model; null: the caller provides the vectors.',
  },
  fingerprint: {
    type: ['string', 'null'],
    description: 'A hash of everything that determines the vectors of the model.',
  },
  dimensions: count('Number of values of each vector.'),
  lexical,
  'lexical_records?': count(
    'With `lexical`: records whose words are indexed so far. A search indexes what it needs, so it finds all of them.',
  ),
  embed,
  'flatten?': flatten,
  'defaults?': searchDefaults,
  'formats?': ref('ValueFormats', 'The formats of columns in CSV, if there are any.'),
  columns: list(
    object('A column of a database.', {
      name: text('Name of the column.'),
      types: list(
        { type: 'string', enum: ['string', 'number', 'boolean', 'null', 'list'] },
        'Types of its values.',
      ),
      records: count('Number of records that have the column.'),
    }),
    'Columns that records have or had.',
  ),
  sizes: {
    type: 'object',
    description: 'Bytes of memory in all and by purpose, and bytes of files.',
    required: ['memory_bytes', 'disk_bytes'],
    additionalProperties: count(),
    properties: {
      memory_bytes: count('Bytes of memory in all.'),
      disk_bytes: count('Bytes of files.'),
    },
  },
  times: object('Times of the database, in UTC.', {
    created_at: instant('When the database was created.'),
    last_write_at: instant('When records were last written or deleted.'),
    'as_of?': instant(
      'Where another process writes the records: when they were last read. The data is of this time.',
    ),
  }),
  'reembedding?': ref('Reembedding', 'The re-embedding with another model, if there is one.'),
  'scores?': object('What scores of the model mean, where that was measured.', {
    related: score('From here on, a record is related to the text of a search.'),
    close: score('From here on, a record is close in meaning to the text.'),
    lexical: score('The weight of exact words to begin with.'),
  }),
  'notice?': text(
    'What to know of the model: that it does not know the language of most of the first records, and what helps.',
  ),
});

export const databaseList = object('All databases that the key may see.', {
  databases: list(ref('DatabaseDescription'), 'Ordered by id.'),
});
