import { count } from './count.js';
import { errorCode, problemCode } from './problem.js';
import { truncated } from './records.js';
import type { TypeOf } from './type-of.js';

/** One line of the response to a streamed upsert. */
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
  description: 'The records that are durable and searchable so far.',
  required: ['type', 'lines', 'committed', 'truncated'],
  additionalProperties: false,
  properties: { type: { type: 'string', const: 'progress' }, lines: count, committed: count, truncated },
} as const;

export const lineSummary = {
  type: 'object',
  description: 'The last line if all lines were read.',
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
  description: 'The last line if the stream ended early. Records that progress lines counted stay stored.',
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

export type LineProblem = TypeOf<typeof lineProblem>;
export type LineProgress = TypeOf<typeof lineProgress>;
export type LineSummary = TypeOf<typeof lineSummary>;
export type LineFailure = TypeOf<typeof lineFailure>;
export type LineEvent = LineProblem | LineProgress | LineSummary;

declare module './type-of.js' {
  interface NamedTypes {
    LineProblem: LineProblem;
    LineProgress: LineProgress;
    LineSummary: LineSummary;
    LineFailure: LineFailure;
  }
}
