/** A number of things. */
export const count = { type: 'integer', minimum: 0 } as const;
