import type { TypeOf } from './type-of.js';

export const time = {
  type: 'string',
  minLength: 1,
  maxLength: 64,
  description: 'ISO 8601 with Z or an offset. A date alone means midnight UTC.',
} as const;

/** A time in a response. */
export const utcTime = { type: 'string', format: 'date-time' } as const;

export const timeRange = {
  type: 'object',
  description: 'Includes both ends. Applies to the time at which a record was last synced.',
  additionalProperties: false,
  properties: { start_time: time, end_time: time },
} as const;

export type TimeRange = TypeOf<typeof timeRange>;

declare module './type-of.js' {
  interface NamedTypes {
    TimeRange: TimeRange;
  }
}
