import { databaseId } from './databases.js';
import { creatorId, shortId } from './ids.js';
import { time } from './time.js';
import type { TypeOf } from './type-of.js';

export const ACTIONS = [
  'search',
  'records.read',
  'records.write',
  'databases.manage',
  'keys.manage',
] as const;

const name = { type: 'string', minLength: 1, maxLength: 100, description: 'For people.' } as const;
const actions = {
  type: 'array',
  minItems: 1,
  uniqueItems: true,
  items: { type: 'string', enum: ACTIONS },
} as const;
const databases = {
  description: 'Ids of the databases that the key may see, or `*` for all.',
  anyOf: [
    { type: 'string', const: '*' },
    {
      type: 'array',
      minItems: 1,
      maxItems: 1000,
      uniqueItems: true,
      items: { anyOf: [databaseId, { type: 'string', const: '*' }] },
    },
  ],
} as const;
const filter = {
  $ref: '#/components/schemas/FilterGroupB',
  description: 'The key sees only records that pass this filter.',
} as const;

export const keyRequest = {
  type: 'object',
  required: ['name', 'actions', 'databases'],
  additionalProperties: false,
  properties: { name, actions, databases, expires_at: time, filter },
  examples: [{ name: 'website', actions: ['search'], databases: ['landmarks'] }],
} as const;

const described = {
  key_id: shortId,
  name,
  actions,
  databases,
  created_at: { type: 'string', format: 'date-time' },
  expires_at: { type: 'string', format: 'date-time' },
  filter,
  issued_by: {
    ...creatorId,
    description: 'Id of the key that issued this one. Keys of earlier releases lack it.',
  },
} as const;

export const keyDescription = {
  type: 'object',
  required: ['key_id', 'name', 'actions', 'databases', 'created_at'],
  additionalProperties: false,
  properties: described,
} as const;

export const issuedKey = {
  type: 'object',
  required: ['key_id', 'key', 'name', 'actions', 'databases', 'created_at'],
  additionalProperties: false,
  properties: { ...described, key: { type: 'string', description: 'The secret. It is shown only here.' } },
} as const;

export const keyList = {
  type: 'object',
  required: ['keys'],
  additionalProperties: false,
  properties: { keys: { type: 'array', items: { $ref: '#/components/schemas/KeyDescription' } } },
} as const;

export type Action = (typeof ACTIONS)[number];
export type KeyRequest = TypeOf<typeof keyRequest>;
export type KeyDescription = TypeOf<typeof keyDescription>;
export type IssuedKey = TypeOf<typeof issuedKey>;

declare module './type-of.js' {
  interface NamedTypes {
    KeyDescription: KeyDescription;
  }
}
