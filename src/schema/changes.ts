import { count } from './count.js';
import { EPOCH, integerId, recordKey, uuid } from './ids.js';

export const change = {
  type: 'object',
  description: 'One change of a record.',
  required: ['position', 'kind', 'id', 'uuid', 'at'],
  additionalProperties: false,
  properties: {
    position: {
      type: 'integer',
      minimum: 1,
      description: 'Position in the change feed. Positions increase; they may skip numbers.',
    },
    kind: {
      type: 'string',
      enum: ['created', 'changed', 'deleted'],
      description: 'What happened to the record.',
    },
    id: integerId,
    key: { ...recordKey, description: 'Key of the record, if it has or had one: up to 512 bytes of UTF-8.' },
    uuid,
    at: { type: 'string', format: 'date-time', description: 'When it happened.' },
  },
} as const;

export const epoch = {
  type: 'string',
  pattern: EPOCH.source,
  description:
    'Identifies the history of the change feed up to `position`. Pass both to the next request, and do not compare epochs.',
} as const;

export const changes = {
  type: 'object',
  description: 'A part of the change feed.',
  required: ['changes', 'position', 'has_more', 'epoch'],
  additionalProperties: false,
  properties: {
    changes: {
      type: 'array',
      items: { $ref: '#/components/schemas/Change' },
      description: 'Oldest first.',
    },
    position: { ...count, description: '`after` of the next request.' },
    has_more: { type: 'boolean', description: 'Whether there are further changes now.' },
    epoch,
  },
} as const;
