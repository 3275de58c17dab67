import { count, object, ref, text } from './json-schema.js';
import { changedAt, errorCode, facts, problemCode } from './problem.js';
import { startedAt } from './records.js';
import type { LineProblem, LineProgress, LineSummary } from './types/responses.js';

const detail = text('For people. The wording may change.');
const lines = count('Number of lines read so far.');

const kind = (name: string) => ({ type: 'string', const: name, description: 'The kind of the event.' });

export const lineProblem = object('A problem of a line. The line is not stored; the others are.', {
  type: kind('problem'),
  line: { type: 'integer', minimum: 1, description: 'Number of the line, from 1.' },
  code: problemCode,
  detail,
  pointer: text('JSON pointer into the line.'),
  'changed_at?': changedAt,
});

export const lineProgress = object('The records that are durable and searchable so far.', {
  type: kind('progress'),
  lines,
  committed: count('Number of records that are durable and searchable.'),
});

export const lineSummary = object('The last line if all lines were read.', {
  type: kind('summary'),
  lines: count('Number of all lines.'),
  created: count('Number of new records.'),
  changed: count('Number of records with new content.'),
  unchanged: count('Number of records that had this content already.'),
  failed: count('Number of lines with at least one problem.'),
  started_at: startedAt,
  'deleted?': count('A replacement of all records: number of deleted records.'),
});

export const lineFailure = object(
  'The last line if the stream ended early. Records that progress lines counted stay stored.',
  {
    type: kind('error'),
    code: errorCode,
    detail,
    request_id: text('The `x-request-id` of the response.'),
    'max?': facts.max,
    'missing?': facts.missing,
  },
);

export const lineEvent = {
  description: 'One line of the response to a streamed upsert.',
  oneOf: [ref('LineProblem'), ref('LineProgress'), ref('LineSummary'), ref('LineFailure')],
} as const;

/** An event of a stream of lines: a problem of a line, the progress after a commit, or the summary at the end. */
export type LineEvent = LineProblem | LineProgress | LineSummary;
