import { column } from './filter.js';
import { integerId, recordKey, uuid } from './ids.js';
import { count, flag, instant, list, type Members, object, ref, text } from './json-schema.js';
import { MAX_LIST_ELEMENTS } from './limits.js';

/** A value of a column. */
export const columnValue = {
  anyOf: [
    { type: ['string', 'number', 'boolean', 'null'] },
    list({ type: ['string', 'number', 'boolean'] }, 'A list; its elements may have different types.', {
      maxItems: MAX_LIST_ELEMENTS,
    }),
  ],
} as const;

const propertyNames = { minLength: 1, maxLength: 256, pattern: column.pattern } as const;

export const data = {
  type: 'object',
  description:
    'Values by column name, in the order they were given: strings, numbers, booleans, null, and lists of the first three.',
  propertyNames,
  additionalProperties: columnValue,
} as const;

/** A value to write. Whether objects are allowed depends on the database. */
export const newValue = {
  anyOf: [
    ...columnValue.anyOf,
    { type: 'object', description: 'With the setting `flatten`: an object, whose members are columns.' },
    {
      type: 'array',
      contains: { type: ['object', 'array', 'null'] },
      description: 'With the setting `flatten`: a list of other values, which is stored as its JSON text.',
    },
  ],
} as const;

export const newData = {
  type: 'object',
  description:
    'Values by column name, in the order they were given: strings, numbers, booleans, null, and lists of the first three. ' +
    'With the setting `flatten` of the database also objects and lists of any values.',
  propertyNames,
  additionalProperties: newValue,
} as const;

/** The schema of the times of a record under these names: created, changed, synced. */
export function timestampsSchema([created, changed, synced]: readonly [string, string, string]) {
  return object('The times of a record, in UTC.', {
    [created]: instant('When the record was first seen.'),
    [changed]: instant('When the content of the record last changed.'),
    [synced]: instant('When the record was last seen, changed or not.'),
  });
}

export const timestamps = timestampsSchema(['created_at', 'changed_at', 'synced_at']);

const key = {
  ...recordKey,
  description: 'Key of the record, if it has one: up to 512 bytes of UTF-8.',
} as const;

export const score = {
  type: 'number',
  minimum: 0,
  maximum: 1,
  description:
    'Similarity in meaning, in steps of 1e-9: 0 means unrelated, 1 the same meaning. Present only in results of a search.',
} as const;

/** The schema of a record with these members for its identity, and times of this schema. */
export function recordSchema(identity: Members, timestamps: string) {
  return object('A record.', {
    ...identity,
    'key?': key,
    'relevance_score?': score,
    data: ref('Data'),
    timestamps: ref(timestamps),
    'vector?': list({ type: 'number' }, 'With `vectors`: the stored vector, of a record with one.'),
    'passages?': list(
      ref('EmbeddedPassage'),
      'With `vectors`, in place of `vector`: the passages of a record whose text is longer than the window of the model.',
    ),
    'embedded_by?': text(
      'With `vectors`: fingerprint of the model that made `vector` or `passages`. Absent in a database without a model.',
    ),
    'group?': object('With `counts` of `distinct`: the matches with the value of this record.', {
      value: {
        ...columnValue,
        description: 'The value of the record in the column; null without a value.',
      },
      count: count('How many matches have this value, this record included. Without a value: 1.'),
    }),
    'passage?': ref('Passage'),
    'best_passages?': list(
      ref('BestPassage'),
      'With a number as `passages`: the passages that match best, the best first. A record whose text was not split has one ' +
        'for each embedded column with a text.',
    ),
    'highlights?': {
      type: 'object',
      additionalProperties: list(
        list(count(), 'The offset of its first character, and the offset after its last one.', {
          minItems: 2,
          maxItems: 2,
        }),
        'The places of the words of a column, in their order.',
      ),
      description:
        'With `highlights`: the places of the words that match those of the search, by column. Offsets count UTF-16 ' +
        'code units. Places do not overlap. Columns without such words are absent.',
    },
    'explain?': {
      type: 'object',
      additionalProperties: true,
      description: 'With `explain`: which rules of the filter the record passed. Not a stable format.',
    },
  });
}

export const record = recordSchema({ id: integerId, uuid }, 'Timestamps');

/** The place of a passage. `start` and `end` are those of `slice` on strings of JavaScript. */
export const passagePlace = {
  column: text('The column that most of the passage comes from.'),
  start: count('Offset of its first character in the value of the column.'),
  end: count('Offset after its last character.'),
};

export const passage = object(
  'With `passages` or `explain`, for a record whose text is longer than the window of the model: the passage that ' +
    'matches best. Offsets count UTF-16 code units.',
  passagePlace,
);

export const bestPassage = object('A passage that matches, with its text.', {
  ...passagePlace,
  score: {
    ...score,
    description: 'That of a record with this text alone, without boosts, in steps of 1e-9.',
  },
  text: text('The text of the column from `start` to `end`.'),
});

export const total = object('The exact number of matches on all pages.', {
  value: count('Number of matches on all pages; with `distinct`, of results.'),
});

export const pagePosition = object('Where the page is among all pages.', {
  limit: { type: 'integer', minimum: 1, maximum: 100, description: 'The limit of the request.' },
  'next_cursor?': text('`cursor` of the request for the next page. Present only if `has_more` is true.'),
  has_more: flag('Whether there are further matches after this page.'),
});

export function pageSchema(record: string) {
  return object('A page of records.', {
    results: list(
      ref(record),
      'The records of the page: of a search by score, highest first; of a query in the order of `sort`.',
    ),
    pagination: ref('PagePosition'),
    'total?': ref('Total'),
    'facets?': list(ref('FacetCounts'), 'The counts of each facet, in the order of the request.'),
    'explain?': {
      type: 'object',
      additionalProperties: true,
      description:
        'With `explain`: how the page was found (plan, records scanned and rescored, times). Not a stable format.',
    },
  });
}

export const page = pageSchema('Record');
