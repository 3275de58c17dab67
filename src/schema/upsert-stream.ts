import { count } from './count.js';
import { errorCode, problemCode } from './problem.js';
import { startedAt } from './records.js';
import type { LineProblem, LineProgress, LineSummary } from './types/responses.js';

const detail = { type: 'string', description: 'For people. The wording may change.' } as const;
const lines = { ...count, description: 'Number of lines read so far.' } as const;

export const lineProblem = {
  type: 'object',
  description: 'A problem of a line. The line is not stored; the others are.',
  required: ['type', 'line', 'code', 'detail', 'pointer'],
  additionalProperties: false,
  properties: {
    type: { type: 'string', const: 'problem', description: 'The kind of the event.' },
    line: { type: 'integer', minimum: 1, description: 'Number of the line, from 1.' },
    code: problemCode,
    detail,
    pointer: { type: 'string', description: 'JSON pointer into the line.' },
  },
} as const;

export const lineProgress = {
  type: 'object',
  description: 'The records that are durable and searchable so far.',
  required: ['type', 'lines', 'committed'],
  additionalProperties: false,
  properties: {
    type: { type: 'string', const: 'progress', description: 'The kind of the event.' },
    lines,
    committed: { ...count, description: 'Number of records that are durable and searchable.' },
  },
} as const;

export const lineSummary = {
  type: 'object',
  description: 'The last line if all lines were read.',
  required: ['type', 'lines', 'created', 'changed', 'unchanged', 'failed', 'started_at'],
  additionalProperties: false,
  properties: {
    type: { type: 'string', const: 'summary', description: 'The kind of the event.' },
    lines: { ...count, description: 'Number of all lines.' },
    created: { ...count, description: 'Number of new records.' },
    changed: { ...count, description: 'Number of records with new content.' },
    unchanged: { ...count, description: 'Number of records that had this content already.' },
    failed: { ...count, description: 'Number of lines with at least one problem.' },
    started_at: startedAt,
  },
} as const;

export const lineFailure = {
  type: 'object',
  description: 'The last line if the stream ended early. Records that progress lines counted stay stored.',
  required: ['type', 'code', 'detail', 'request_id'],
  additionalProperties: false,
  properties: {
    type: { type: 'string', const: 'error', description: 'The kind of the event.' },
    code: errorCode,
    detail,
    request_id: { type: 'string', description: 'The `x-request-id` of the response.' },
  },
} as const;

export const lineEvent = {
  description: 'One line of the response to a streamed upsert.',
  oneOf: [
    { $ref: '#/components/schemas/LineProblem' },
    { $ref: '#/components/schemas/LineProgress' },
    { $ref: '#/components/schemas/LineSummary' },
    { $ref: '#/components/schemas/LineFailure' },
  ],
} as const;

/** An event of a stream of lines: a problem of a line, the progress after a commit, or the summary at the end. */
export type LineEvent = LineProblem | LineProgress | LineSummary;
