import { LIMITS } from './limits.js';
import { errorCode, problemCode } from './problem.js';
import { time, timeRange } from './search.js';
import type { TypeOf } from './type-of.js';

const integerId = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER } as const;
const uuid = {
  type: 'string',
  format: 'uuid',
  pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
} as const;
const recordId = { anyOf: [integerId, uuid] } as const;
const count = { type: 'integer', minimum: 0 } as const;
const truncated = {
  ...count,
  description:
    'Records that were embedded by the beginning of their text only: it is longer than the model takes. ' +
    'Unchanged records are not embedded again and not counted.',
} as const;

/** What a record may be given as. The engine's own parser checks it; this schema describes that parser. */
export const newRecord = {
  type: 'object',
  required: ['data'],
  additionalProperties: false,
  properties: {
    id: { ...integerId, description: 'Made by the service when absent.' },
    uuid: { ...uuid, description: 'Made by the service when absent.' },
    data: { $ref: '#/components/schemas/Data' },
    timestamps: {
      type: 'object',
      description: 'For migration: times in either variant’s names, not mixed.',
      additionalProperties: false,
      properties: {
        created_at: time,
        changed_at: time,
        synced_at: time,
        first_seen_time: time,
        last_changed_time: time,
        last_seen_time: time,
      },
    },
    vector: {
      type: 'array',
      minItems: 1,
      maxItems: 4096,
      items: { type: 'number' },
      description: 'Where the database was made without a model.',
    },
  },
  examples: [{ id: 1, data: { title: 'Eiffel Tower', country: 'France', height_m: 330, open: true } }],
} as const;

export const batch = {
  type: 'object',
  required: ['records'],
  additionalProperties: false,
  properties: {
    records: {
      type: 'array',
      maxItems: LIMITS.batch_records,
      items: { $ref: '#/components/schemas/NewRecord' },
    },
  },
} as const;

export const batchResult = {
  type: 'object',
  required: ['results', 'created', 'changed', 'unchanged', 'truncated'],
  additionalProperties: false,
  properties: {
    results: {
      type: 'array',
      description: 'In the order of the request.',
      items: {
        type: 'object',
        required: ['id', 'uuid', 'status'],
        additionalProperties: false,
        properties: {
          id: integerId,
          uuid,
          status: { type: 'string', enum: ['created', 'changed', 'unchanged'] },
        },
      },
    },
    created: count,
    changed: count,
    unchanged: count,
    truncated,
  },
} as const;

/** One line of the answer to a stream of records. */
export const lineProblem = {
  type: 'object',
  required: ['type', 'line', 'code', 'detail', 'pointer'],
  additionalProperties: false,
  properties: {
    type: { type: 'string', const: 'problem' },
    line: { type: 'integer', minimum: 1 },
    code: problemCode,
    detail: { type: 'string' },
    pointer: { type: 'string', description: 'JSON pointer into the line.' },
  },
} as const;

export const lineProgress = {
  type: 'object',
  description: 'What is durable and searchable so far.',
  required: ['type', 'lines', 'committed', 'truncated'],
  additionalProperties: false,
  properties: { type: { type: 'string', const: 'progress' }, lines: count, committed: count, truncated },
} as const;

export const lineSummary = {
  type: 'object',
  description: 'The last line when every line was read.',
  required: ['type', 'lines', 'created', 'changed', 'unchanged', 'failed', 'truncated'],
  additionalProperties: false,
  properties: {
    type: { type: 'string', const: 'summary' },
    lines: count,
    created: count,
    changed: count,
    unchanged: count,
    failed: count,
    truncated,
  },
} as const;

export const lineFailure = {
  type: 'object',
  description: 'The last line when the stream ended early. What progress lines counted stays stored.',
  required: ['type', 'code', 'detail', 'request_id'],
  additionalProperties: false,
  properties: {
    type: { type: 'string', const: 'error' },
    code: errorCode,
    detail: { type: 'string' },
    request_id: { type: 'string' },
  },
} as const;

export const lineEvent = {
  oneOf: [
    { $ref: '#/components/schemas/LineProblem' },
    { $ref: '#/components/schemas/LineProgress' },
    { $ref: '#/components/schemas/LineSummary' },
    { $ref: '#/components/schemas/LineFailure' },
  ],
} as const;

export const deleteRequest = {
  type: 'object',
  description: 'Either `ids`, or at least one of `filter` and `time_range`.',
  additionalProperties: false,
  minProperties: 1,
  if: { required: ['ids'] },
  // biome-ignore lint/suspicious/noThenProperty: the keyword's name
  then: { maxProperties: 1 },
  else: {},
  properties: {
    ids: { type: 'array', minItems: 1, maxItems: 1000, items: recordId },
    filter: { $ref: '#/components/schemas/FilterGroupB' },
    // An empty range is any time: as the only member it would delete everything.
    time_range: { ...timeRange, minProperties: 1 },
  },
  examples: [{ ids: [1, 2] }, { time_range: { end_time: '2026-01-01' } }],
} as const;

export const deleteResult = {
  type: 'object',
  required: ['deleted'],
  additionalProperties: false,
  properties: { deleted: count },
} as const;

export const change = {
  type: 'object',
  required: ['position', 'kind', 'id', 'uuid', 'at'],
  additionalProperties: false,
  properties: {
    position: { type: 'integer', minimum: 1 },
    kind: { type: 'string', enum: ['created', 'changed', 'deleted'] },
    id: integerId,
    uuid,
    at: { type: 'string', format: 'date-time' },
  },
} as const;

/** What identifies a change feed, as a regular expression. */
export const EPOCH = /^[0-9a-f]{32}$/;

export const epoch = {
  type: 'string',
  pattern: EPOCH.source,
  description:
    'Which feed it is: another one once the database was made again. Position and epoch together name a place.',
} as const;

export const changes = {
  type: 'object',
  required: ['changes', 'position', 'has_more', 'epoch'],
  additionalProperties: false,
  properties: {
    changes: { type: 'array', items: { $ref: '#/components/schemas/Change' } },
    position: { ...count, description: '`after` of the next call.' },
    has_more: { type: 'boolean' },
    epoch,
  },
} as const;

export type NewRecord = TypeOf<typeof newRecord>;
export type BatchResult = TypeOf<typeof batchResult>;
export type LineProblem = TypeOf<typeof lineProblem>;
export type LineProgress = TypeOf<typeof lineProgress>;
export type LineSummary = TypeOf<typeof lineSummary>;
export type LineFailure = TypeOf<typeof lineFailure>;
export type LineEvent = LineProblem | LineProgress | LineSummary;
export type DeleteRequest = TypeOf<typeof deleteRequest>;
export type Change = TypeOf<typeof change>;
export type Changes = TypeOf<typeof changes>;

declare module './type-of.js' {
  interface NamedTypes {
    NewRecord: NewRecord;
    LineProblem: LineProblem;
    LineProgress: LineProgress;
    LineSummary: LineSummary;
    LineFailure: LineFailure;
    Change: Change;
  }
}
