export const time = {
  type: 'string',
  minLength: 1,
  maxLength: 64,
  // For generators of clients: the engine checks times, because its errors are more precise.
  anyOf: [{ format: 'date-time' }, { format: 'date' }],
  description:
    'ISO 8601 with Z or an offset. A date alone means midnight UTC. Digits below a millisecond are cut off.',
} as const;

/** A time in a response. */
export const utcTime = { type: 'string', format: 'date-time' } as const;

export const timeRange = {
  type: 'object',
  description: 'Includes both ends. Applies to the time at which a record was last synced.',
  additionalProperties: false,
  properties: {
    start_time: { ...time, description: `Earliest time. ${time.description} Default: no limit.` },
    end_time: { ...time, description: `Latest time. ${time.description} Default: no limit.` },
  },
} as const;
