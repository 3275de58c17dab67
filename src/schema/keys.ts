import { creatorId, databaseId, shortId } from './ids.js';
import { flag, instant, list, object, ref, text } from './json-schema.js';
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
const actions = list({ type: 'string', enum: ACTIONS }, 'What the key may do.', {
  minItems: 1,
  maxItems: ACTIONS.length,
  uniqueItems: true,
});
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
const filter = ref('FilterGroup', 'The key sees only records that pass this filter.');

const expiresAt = {
  ...time,
  description: `When the key stops to be valid. ${time.description} Default: never.`,
} as const;

export const keyRequest = object(
  'A key to issue. It may do no more than the key that issues it.',
  { name, actions, databases, 'expires_at?': expiresAt, 'filter?': filter },
  { examples: [{ name: 'website', actions: ['search'], databases: ['landmarks'] }] },
);

const described = {
  key_id: { ...shortId, description: 'Id of the key. It is not secret.' },
  name,
  actions,
  databases,
  created_at: instant('When the key was issued.'),
  'expires_at?': instant('When the key stops to be valid; absent: never.'),
  'filter?': filter,
  issued_by: { ...creatorId, description: 'Id of the key that issued this one.' },
};

export const keyDescription = object('A key without its secret.', described);

export const issuedKey = object('A new key with its secret.', {
  ...described,
  key: text('The secret. It is shown only here.'),
});

export const keyList = object('The keys that the key of the request may see.', {
  keys: list(ref('KeyDescription'), 'Without their secrets.'),
});

export const ownKey = object('The key of the request: what it may do.', {
  key_id: { ...creatorId, description: 'Id of the key; `admin` for the admin key.' },
  name,
  actions,
  databases,
  'expires_at?': described['expires_at?'],
  filtered: flag('Whether the key sees only the records that pass its filter.'),
});

/** What a key may do. */
export type Action = (typeof ACTIONS)[number];
