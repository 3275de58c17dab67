/** The integer id of a record. */
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

/** Matches the epoch of a change feed. */
export const EPOCH = /^[0-9a-f]{32}$/;

/** The UUID of a record. */
export const uuid = {
  type: 'string',
  format: 'uuid',
  pattern: UUID.source,
  description: 'UUID of the record.',
} as const;

/** The id of an issued key, or of a webhook. */
export const shortId = { type: 'string', pattern: '^[0-9a-z]{12}$' } as const;

/** The id of a key that issued or created something: an issued key, or the admin key. */
export const creatorId = { type: 'string', pattern: '^([0-9a-z]{12}|admin)$' } as const;
