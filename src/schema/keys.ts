import { databaseId } from './databases.js';
import { creatorId, shortId } from './ids.js';
import { time } from './time.js';

export const ACTIONS = [
  'search',
  'records.read',
  'records.write',
  'databases.manage',
  'keys.manage',
] as const;

const name = {
  type: 'string',
  minLength: 1,
  maxLength: 100,
  description: 'Name of the key, for people.',
} as const;
const actions = {
  type: 'array',
  minItems: 1,
  maxItems: ACTIONS.length,
  uniqueItems: true,
  items: { type: 'string', enum: ACTIONS },
  description: 'What the key may do.',
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
      // With a type, the validator compares the items by a table, and not each with each.
      items: { type: 'string', anyOf: [databaseId, { type: 'string', const: '*' }] },
    },
  ],
} as const;
const filter = {
  $ref: '#/components/schemas/FilterGroup',
  description: 'The key sees only records that pass this filter.',
} as const;

const expiresAt = {
  ...time,
  description: `When the key stops to be valid. ${time.description} Default: never.`,
} as const;

export const keyRequest = {
  type: 'object',
  description: 'A key to issue. It may do no more than the key that issues it.',
  required: ['name', 'actions', 'databases'],
  additionalProperties: false,
  properties: { name, actions, databases, expires_at: expiresAt, filter },
  examples: [{ name: 'website', actions: ['search'], databases: ['landmarks'] }],
} as const;

const described = {
  key_id: { ...shortId, description: 'Id of the key. It is not secret.' },
  name,
  actions,
  databases,
  created_at: { type: 'string', format: 'date-time', description: 'When the key was issued.' },
  expires_at: {
    type: 'string',
    format: 'date-time',
    description: 'When the key stops to be valid; absent: never.',
  },
  filter,
  issued_by: {
    ...creatorId,
    description: 'Id of the key that issued this one.',
  },
} as const;

export const keyDescription = {
  type: 'object',
  description: 'A key without its secret.',
  required: ['key_id', 'name', 'actions', 'databases', 'created_at', 'issued_by'],
  additionalProperties: false,
  properties: described,
} as const;

export const issuedKey = {
  type: 'object',
  description: 'A new key with its secret.',
  required: ['key_id', 'key', 'name', 'actions', 'databases', 'created_at', 'issued_by'],
  additionalProperties: false,
  properties: { ...described, key: { type: 'string', description: 'The secret. It is shown only here.' } },
} as const;

export const keyList = {
  type: 'object',
  description: 'The keys that the key of the request may see.',
  required: ['keys'],
  additionalProperties: false,
  properties: {
    keys: {
      type: 'array',
      items: { $ref: '#/components/schemas/KeyDescription' },
      description: 'Without their secrets.',
    },
  },
} as const;

export const ownKey = {
  type: 'object',
  description: 'The key of the request: what it may do.',
  required: ['key_id', 'name', 'actions', 'databases', 'filtered'],
  additionalProperties: false,
  properties: {
    key_id: { ...creatorId, description: 'Id of the key; `admin` for the admin key.' },
    name,
    actions,
    databases,
    expires_at: described.expires_at,
    filtered: {
      type: 'boolean',
      description: 'Whether the key sees only the records that pass its filter.',
    },
  },
} as const;

/** What a key may do. */
export type Action = (typeof ACTIONS)[number];
