import { object } from './json-schema.js';

const FORM = 'ISO 8601 with Z or an offset. A date alone means midnight UTC.';

export const time = {
  type: 'string',
  minLength: 1,
  maxLength: 64,
  // For generators of clients: the engine checks times, because its errors are more precise.
  anyOf: [{ format: 'date-time' }, { format: 'date' }],
  description: `${FORM} Digits below a millisecond are cut off.`,
} as const;

export const timeRange = object(
  'Includes both ends. Applies to the time at which a record was last synced, in milliseconds. Digits below a millisecond count: `12:00:00.0005Z` is after `12:00:00.000Z`.',
  {
    'start_time?': { ...time, description: `Earliest time. ${FORM} Default: no limit.` },
    'end_time?': { ...time, description: `Latest time. ${FORM} Default: no limit.` },
  },
);
