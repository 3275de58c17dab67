import { ERRORS, PROBLEM_CODES } from '../errors.js';
import type { TypeOf } from './type-of.js';

const codes = Object.keys(ERRORS) as (keyof typeof ERRORS)[];

/** Code of a failed request or stream. */
export const errorCode = {
  type: 'string',
  enum: codes,
  description: 'For programs; never renamed.',
} as const;

/** Code of one problem of a request or of one line. */
export const problemCode = {
  type: 'string',
  enum: Object.keys(PROBLEM_CODES) as (keyof typeof PROBLEM_CODES)[],
  description: 'For programs; never renamed.',
} as const;

/** The body of every answer that is not a success (RFC 9457). */
export const problem = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code', 'request_id'],
  properties: {
    type: { type: 'string', description: 'Names the code; not meant to be fetched.' },
    title: { type: 'string' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string', description: 'For people; its words may change.' },
    code: errorCode,
    request_id: { type: 'string' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['pointer', 'detail', 'code'],
        additionalProperties: false,
        properties: {
          pointer: { type: 'string', description: 'JSON pointer into the request body.' },
          detail: { type: 'string' },
          code: problemCode,
        },
      },
    },
  },
} as const;

export const health = {
  type: 'object',
  required: ['status'],
  properties: {
    status: { type: 'string', enum: ['ok', 'not_ready'] },
    reasons: {
      type: 'array',
      items: { type: 'string' },
      description: 'Why the service is not ready, or what it cannot serve.',
    },
    progress: {
      type: 'object',
      required: ['databases', 'loaded', 'records'],
      description: 'How much there is to load, and how much is loaded.',
      properties: {
        databases: { type: 'integer', minimum: 0 },
        loaded: { type: 'integer', minimum: 0 },
        records: { type: 'integer', minimum: 0 },
      },
    },
  },
} as const;

export type ProblemBody = TypeOf<typeof problem>;
