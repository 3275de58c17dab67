import { count } from './count.js';
import { EPOCH, integerId, uuid } from './ids.js';
import type { TypeOf } from './type-of.js';

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

export const epoch = {
  type: 'string',
  pattern: EPOCH.source,
  description:
    'Identifies the change feed. A database that was created again has a new epoch, so a position is valid only with its epoch.',
} as const;

export const changes = {
  type: 'object',
  required: ['changes', 'position', 'has_more', 'epoch'],
  additionalProperties: false,
  properties: {
    changes: { type: 'array', items: { $ref: '#/components/schemas/Change' } },
    position: { ...count, description: '`after` of the next request.' },
    has_more: { type: 'boolean' },
    epoch,
  },
} as const;

export type Change = TypeOf<typeof change>;
export type Changes = TypeOf<typeof changes>;

declare module './type-of.js' {
  interface NamedTypes {
    Change: Change;
  }
}
