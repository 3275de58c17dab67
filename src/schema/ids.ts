export const integerId = {
  type: 'integer',
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Integer id of the record.',
} as const;

/** Matches the UUID of a record. */
export const UUID = /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;

/** Matches `{id}` of a path. */
export const DATABASE_ID = /^[a-z0-9_-]{1,64}$/;

export const databaseId = {
  type: 'string',
  pattern: DATABASE_ID.source,
  examples: ['landmarks'],
  description: 'Id of the database.',
} as const;

/** Matches the epoch of a change feed. */
export const EPOCH = /^[0-9a-f]{32}$/;

export const uuid = {
  type: 'string',
  format: 'uuid',
  pattern: UUID.source,
  description: 'UUID of the record.',
} as const;

/** Maximum number of bytes of a record's key. */
export const MAX_KEY_BYTES = 512;

/** What a key follows in a text that may also be another id of a record. */
export const KEY_PREFIX = 'key:';

/** The key of a record. JSON Schema counts characters; the engine counts bytes. */
export const recordKey = {
  type: 'string',
  minLength: 1,
  maxLength: MAX_KEY_BYTES,
  description: 'Key of the record: up to 512 bytes of UTF-8.',
} as const;

export function isKeyReference(text: string): boolean {
  // Half of a surrogate pair has no UTF-8.
  if (!text.startsWith(KEY_PREFIX) || /\p{Surrogate}/u.test(text)) return false;
  const bytes = new TextEncoder().encode(text).length - KEY_PREFIX.length;
  return bytes >= 1 && bytes <= MAX_KEY_BYTES;
}

/** A record's id as a text. */
export const textId = {
  type: 'string',
  pattern: `${UUID.source}|^${KEY_PREFIX}[\\s\\S]`,
  maxLength: KEY_PREFIX.length + MAX_KEY_BYTES,
  description: 'UUID of the record, or `key:` and its key.',
} as const;

/** A record's id in any form. */
export const recordId = { anyOf: [integerId, textId] } as const;

/** The id of an issued key, or of a webhook. */
export const shortId = { type: 'string', pattern: '^[0-9a-z]{12}$' } as const;

/** The id of a key that issued or created something: an issued key, or the admin key. */
export const creatorId = { type: 'string', pattern: '^([0-9a-z]{12}|admin)$' } as const;
