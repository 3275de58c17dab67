import { count } from './json-schema.js';

/** The body of `/livez` and `/readyz`. */
export const health = {
  type: 'object',
  required: ['status'],
  properties: {
    status: { type: 'string', enum: ['ok', 'not_ready'] },
    reasons: {
      type: 'array',
      items: { type: 'string' },
      description: 'Why the service is not ready, or which databases have problems.',
    },
    progress: {
      type: 'object',
      required: ['databases', 'loaded', 'records'],
      description: 'Numbers of databases in all, of loaded databases, and of loaded records.',
      properties: { databases: count(), loaded: count(), records: count() },
    },
  },
} as const;
