import { EPOCH, integerId, recordKey, uuid } from './ids.js';
import { count, flag, instant, list, object, oneOf, ref } from './json-schema.js';

export const change = object('One change of a record.', {
  position: {
    type: 'integer',
    minimum: 1,
    description: 'Position in the change feed. Positions increase; they may skip numbers.',
  },
  kind: oneOf(['created', 'changed', 'deleted'], 'What happened to the record.'),
  id: integerId,
  'key?': { ...recordKey, description: 'Key of the record, if it has or had one: up to 512 bytes of UTF-8.' },
  uuid,
  at: instant('When it happened.'),
});

export const epoch = {
  type: 'string',
  pattern: EPOCH.source,
  description:
    'Identifies the history of the change feed up to `position`. Pass both to the next request, and do not compare epochs.',
} as const;

export const changes = object('A part of the change feed.', {
  changes: list(ref('Change'), 'Oldest first.'),
  position: count('`after` of the next request.'),
  has_more: flag('Whether there are further changes now.'),
  epoch,
});
