import { count } from './count.js';
import { column } from './filter.js';
import { DEFAULTS } from './limits.js';
import { utcTime } from './time.js';
import type { TypeOf } from './type-of.js';

export const valuesFacet = {
  type: 'object',
  description: 'The most frequent values of a column, with the number of matching records each.',
  required: ['column'],
  additionalProperties: false,
  properties: {
    column,
    type: { type: 'string', const: 'values' },
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: 100,
      description: `Maximum number of values. Default: ${DEFAULTS.facet_values}.`,
    },
  },
} as const;

export const histogramFacet = {
  type: 'object',
  description: 'Counts of the numbers of a column in intervals [k·interval, (k+1)·interval).',
  required: ['column', 'type', 'interval'],
  additionalProperties: false,
  properties: {
    column,
    type: { type: 'string', const: 'histogram' },
    interval: { type: 'number', exclusiveMinimum: 0 },
  },
} as const;

export const timeFacet = {
  type: 'object',
  description: 'Counts of matching records by calendar interval (UTC) of one of their times.',
  required: ['time', 'interval'],
  additionalProperties: false,
  properties: {
    time: { type: 'string', enum: ['created', 'changed', 'synced'] },
    interval: { type: 'string', enum: ['minute', 'hour', 'day', 'week', 'month', 'year'] },
  },
} as const;

export const facet = {
  if: { type: 'object', required: ['time'] },
  // biome-ignore lint/suspicious/noThenProperty: the keyword's name
  then: { $ref: '#/components/schemas/TimeFacet' },
  else: {
    if: { type: 'object', required: ['type'], properties: { type: { const: 'histogram' } } },
    // biome-ignore lint/suspicious/noThenProperty: the keyword's name
    then: { $ref: '#/components/schemas/HistogramFacet' },
    else: {
      if: { type: 'object', properties: { type: { const: 'values' } } },
      // biome-ignore lint/suspicious/noThenProperty: the keyword's name
      then: { $ref: '#/components/schemas/ValuesFacet' },
      else: { type: 'object', properties: { type: { enum: ['values', 'histogram'] } } },
    },
  },
} as const;

export const valuesCounts = {
  type: 'object',
  required: ['column', 'type', 'values'],
  additionalProperties: false,
  properties: {
    column: { type: 'string' },
    type: { type: 'string', const: 'values' },
    values: {
      type: 'array',
      description: 'Most frequent first; ties by type (boolean, number, string) and value.',
      items: {
        type: 'object',
        required: ['value', 'count'],
        additionalProperties: false,
        properties: { value: { type: ['string', 'number', 'boolean'] }, count },
      },
    },
    other: { ...count, description: 'Matches with a value that is not listed.' },
    missing: { ...count, description: 'Matches without a value: the column is absent or null.' },
  },
} as const;

export const histogramCounts = {
  type: 'object',
  required: ['column', 'type', 'interval', 'buckets'],
  additionalProperties: false,
  properties: {
    column: { type: 'string' },
    type: { type: 'string', const: 'histogram' },
    interval: { type: 'number' },
    buckets: {
      type: 'array',
      description: 'In ascending order, without empty intervals.',
      items: {
        type: 'object',
        required: ['from', 'count'],
        additionalProperties: false,
        properties: { from: { type: 'number' }, count },
      },
    },
    missing: { ...count, description: 'Matches whose column holds no number.' },
  },
} as const;

export const timeCounts = {
  type: 'object',
  required: ['time', 'interval', 'buckets'],
  additionalProperties: false,
  properties: {
    time: { type: 'string', enum: ['created', 'changed', 'synced'] },
    interval: { type: 'string', enum: ['minute', 'hour', 'day', 'week', 'month', 'year'] },
    buckets: {
      type: 'array',
      description: 'In ascending order, without empty intervals.',
      items: {
        type: 'object',
        required: ['from', 'count'],
        additionalProperties: false,
        properties: { from: utcTime, count },
      },
    },
  },
} as const;

export type ValuesFacet = TypeOf<typeof valuesFacet>;
export type HistogramFacet = TypeOf<typeof histogramFacet>;
export type TimeFacet = TypeOf<typeof timeFacet>;
export type Facet = ValuesFacet | HistogramFacet | TimeFacet;
export type FacetCounts =
  | TypeOf<typeof valuesCounts>
  | TypeOf<typeof histogramCounts>
  | TypeOf<typeof timeCounts>;

declare module './type-of.js' {
  interface NamedTypes {
    ValuesFacet: ValuesFacet;
    HistogramFacet: HistogramFacet;
    TimeFacet: TimeFacet;
    Facet: Facet;
    ValuesCounts: TypeOf<typeof valuesCounts>;
    HistogramCounts: TypeOf<typeof histogramCounts>;
    TimeCounts: TypeOf<typeof timeCounts>;
  }
}
