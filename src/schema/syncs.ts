import { databaseId, UUID } from './ids.js';
import { count, instant, list, object, oneOf, ref, text } from './json-schema.js';

export const syncDescription = object('How far a source is that a database is kept in step with.', {
  name: { ...databaseId, description: 'Name of the source. The keys of its records begin with it and `/`.' },
  database: { ...databaseId, description: 'Id of the database.' },
  state: oneOf(
    ['new', 'reading', 'waiting', 'failed', 'withheld', 'in_step'],
    'new: no pass was complete yet. reading: a pass runs, or was interrupted. waiting: the last attempt failed, and the next one ' +
      'may succeed by itself. failed: somebody must do what `reason` says; it is tried again each minute. withheld: deletions ' +
      'wait for a confirmation. in_step: none of these.',
  ),
  'in_step_as_of?': instant(
    'The moment of the source that the records show; absent before the first complete pass, and while a pass has written a part or deletions are withheld.',
  ),
  records: count('Records of the source.'),
  refused: count('Rows that could not become records.'),
  refused_rows: list(
    object('A row that could not become a record.', {
      key: text('Key of the row.'),
      reason: text('Why, for people.'),
    }),
    'The first 1,000 of them.',
  ),
  withheld: count('Records that wait for a confirmation to be deleted.'),
  'reason?': text('Why the last attempt failed, for people.'),
  'by_scan?': text(
    'Why each pass scans the table, although `stream` asks for its changes at once, for people.',
  ),
  'next_attempt?': instant('When the next attempt or the next pass begins.'),
  'progress?': object('How far the running pass is.', {
    rows: count('Rows whose records are stored, or that were refused.'),
    'total?': count('Rows to expect; absent where the source cannot tell.'),
    rows_per_second: { type: 'number', minimum: 0, description: 'Rows per second since the pass began.' },
    'seconds_left?': { type: 'number', minimum: 0, description: 'Seconds until the end at this rate.' },
  }),
  'last_whole_pass?': object('The last pass since the start of the service that compared all rows.', {
    at: instant('When it was complete.'),
    read: count('Rows that were read.'),
    written: count('Records that were new or differed.'),
    unchanged: count('Records that had this content already.'),
    deleted: count('Records whose rows were gone.'),
  }),
  'requested?': list(
    { type: 'string', enum: ['reconcile', 'confirm'] },
    'Passes that were asked for and are not complete.',
  ),
});

export const syncList = object('The sources that the service follows.', {
  syncs: list(ref('SyncDescription'), 'Those whose databases the key may see.'),
});

export const syncConfirmation = object(
  'The deletions to confirm.',
  {
    'withheld?': count(
      'No more records are deleted: the number that was shown. Default: as many as are withheld now.',
    ),
  },
  { examples: [{ withheld: 12 }] },
);

const state = {
  type: ['object', 'null'] as const,
  description: 'What the runner of the sync keeps: only runners read it. null: the sync is forgotten.',
  additionalProperties: true,
};

export const syncPosition = object('What a database has of a sync.', {
  epoch: text('Identifies the database among all that had its id.'),
  version: count('The number of the last commit before the other members were read.'),
  state,
  records: count('Records whose keys begin with the name of the sync and `/`.'),
  keys: list(
    text('Key of a record.'),
    'As many of their keys as were asked for, in the order of their bytes.',
  ),
});

export const syncHold = object('The right to make the passes of a sync.', {
  hold: { type: 'string', pattern: UUID.source, description: 'Part of the paths of its requests.' },
  seconds: {
    type: 'number',
    minimum: 0,
    description: 'It ends when no request with it has come for so long.',
  },
});

/** Keys of one request at most. */
export const MAX_SYNC_KEYS = 5_000;

export const syncCommit = object(
  'The records of a sync to delete, and what its runner keeps: both are one commit.',
  {
    'epoch?': text('The epoch of the position. Nothing is done to a database that was created since.'),
    'state?': {
      ...state,
      description: `${state.description} Absent: \`keys\` are kept for the next commit with the hold, and nothing is done yet.`,
    },
    'keys?': list(
      { type: 'string', minLength: 1, maxLength: 512, description: 'Key of a record of the sync.' },
      'Deletes the records with these keys and with those that were kept.',
      { maxItems: MAX_SYNC_KEYS },
    ),
    'unwritten_since?': count(
      'Deletes the records of the sync that no commit after this version wrote, not even one that found them unchanged.',
    ),
    'max?': count('How many records may be deleted. Default: any number.'),
  },
  { examples: [{ state: { bookmark: 7 }, keys: ['shop/1', 'shop/2'] }] },
);
