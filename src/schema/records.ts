import { integerId, recordId, recordKey, uuid } from './ids.js';
import { count, instant, list, object, oneOf, ref } from './json-schema.js';
import { LIMITS } from './limits.js';
import { newValue, passagePlace } from './pages.js';
import { time, timeRange } from './time.js';

export const startedAt = instant(
  'Time of the first commit, by the clock of the store. What this call wrote was last synced then or later, and what earlier calls wrote, before. Records that come with their time of last sync are an exception.',
);

/** The schema of the times of a record to write under these names: created, changed, synced. */
export function newTimestampsSchema([created, changed, synced]: readonly [string, string, string]) {
  return object('Times to store instead of now, for a migration.', {
    [`${created}?`]: { ...time, description: 'When the record was first seen. Default: now.' },
    [`${changed}?`]: { ...time, description: 'When its content last changed. Default: now.' },
    [`${synced}?`]: { ...time, description: 'When the record was last seen. Default: now.' },
  });
}

export const newTimestamps = newTimestampsSchema(['created_at', 'changed_at', 'synced_at']);

export const embeddedPassage = object(
  'A passage of a text, with its vector. Offsets count UTF-16 code units.',
  {
    ...passagePlace,
    vector: list({ type: 'number' }, 'Its vector.', { minItems: 1, maxItems: 4096 }),
  },
);

const eiffelTower = {
  id: 1,
  data: { title: 'Eiffel Tower', country: 'France', height_m: 330, open: true },
} as const;

/** A record of an upsert. The engine parses and checks records, and this schema describes what it accepts. */
export const newRecord = object(
  'A record to write. A stored record with the same id, UUID or key is replaced.',
  {
    'id?': { ...integerId, description: 'Integer id, unique in the database. Default: the next free one.' },
    'uuid?': {
      ...uuid,
      description: 'UUID, unique in the database. Default: that of the key, or a new one of version 7.',
    },
    'key?': {
      ...recordKey,
      description:
        'Text that identifies the record, unique in the database: up to 512 bytes of UTF-8. The UUID of the record is made from it.',
    },
    data: ref('NewData'),
    'timestamps?': ref('NewTimestamps'),
    'vector?': list(
      { type: 'number' },
      'Vector of the record. In a database with a model only together with `embedded_by`, and dropped from a record ' +
        'without text. Otherwise the text is embedded.',
      { minItems: 1, maxItems: 4096 },
    ),
    'passages?': list(
      ref('EmbeddedPassage'),
      'In place of `vector`, the passages of a text that is longer than the window of the model, only together with ' +
        '`embedded_by`. An export with vectors has them.',
      { minItems: 1 },
    ),
    'embedded_by?': {
      type: 'string',
      minLength: 1,
      maxLength: 256,
      description:
        'Fingerprint of the model that made `vector` or `passages` from the text of the record; in a database with a model it must be ' +
        'the `fingerprint` of the database. An export with vectors has it.',
    },
    'if_changed_at?': {
      ...time,
      type: ['string', 'null'],
      description:
        'Writes the record only if the stored one was last changed at this time; null: only if there is none yet. The ' +
        'condition is not stored.',
    },
  },
  { examples: [eiffelTower] },
);

export const batch = object(
  'Records that are written together.',
  {
    records: list(ref('NewRecord'), 'Records to write: all of them, or none if one is not valid.', {
      maxItems: LIMITS.batch_records,
    }),
  },
  { examples: [{ records: [eiffelTower] }] },
);

export const batchResult = object('What became of the records of an upsert.', {
  results: list(
    object('What became of one record of an upsert.', {
      id: integerId,
      'key?': { ...recordKey, description: 'Key of the record, if it has one: up to 512 bytes of UTF-8.' },
      uuid,
      status: oneOf(
        ['created', 'changed', 'unchanged'],
        'Whether the record is new, has new content, or had this content already.',
      ),
    }),
    'One result for each record, in the order of the request.',
  ),
  created: count('Number of new records.'),
  changed: count('Number of records with new content.'),
  unchanged: count('Number of records that had this content already.'),
  started_at: startedAt,
});

/** A patch of a record. The engine parses and checks patches, and this schema describes what it accepts. */
export const recordPatch = object(
  'Changes of a record.',
  {
    'data?': {
      type: 'object',
      description:
        'Columns to set. Null removes a column. With the setting `flatten`, an object changes its members, and another value ' +
        'takes the place of all members.',
      additionalProperties: newValue,
    },
    'if_changed_at?': {
      ...time,
      description: 'Changes the record only if it was last changed at this time.',
    },
  },
  { examples: [{ data: { height_m: 330, architect: null } }] },
);

const conditionalId = object('A record to delete if it was last changed at a time.', {
  id: recordId,
  if_changed_at: { ...time, description: 'When the record was last changed.' },
});

export const deleteRequest = object(
  'Which records to delete: either `ids`, or at least one of `filter` and `time_range`.',
  {
    'ids?': list(
      { anyOf: [...recordId.anyOf, conditionalId] },
      'Ids of the records to delete: integers, UUIDs, or `key:` and a key; or objects with such an `id` and a time ' +
        '`if_changed_at`. If one of these records was not last changed at its time, none is deleted.',
      { minItems: 1, maxItems: 1000 },
    ),
    'filter?': ref('FilterGroup', 'Rules that the records to delete satisfy. Default: all records.'),
    // An empty range matches every time, so as the only member it would delete all records.
    'time_range?': {
      ...timeRange,
      minProperties: 1,
      description:
        'When the records to delete were last seen; includes both ends, and requires at least one of them.',
    },
  },
  {
    minProperties: 1,
    if: { required: ['ids'] },
    // biome-ignore lint/suspicious/noThenProperty: the keyword's name
    then: { maxProperties: 1 },
    else: {},
    examples: [{ ids: [1, 2] }, { time_range: { end_time: '2026-01-01' } }],
  },
);

export const deleteResult = object('How many records were deleted.', {
  deleted: count('Number of deleted records.'),
});
