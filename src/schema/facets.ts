import { count } from './count.js';
import { column } from './filter.js';
import { DEFAULTS } from './limits.js';
import { utcTime } from './time.js';

const time = {
  type: 'string',
  enum: ['created', 'changed', 'synced'],
  description:
    'Which time of a record is counted: when it was first seen (`created`), when its content last changed ' +
    '(`changed`), or when it was last seen (`synced`).',
} as const;
const calendarInterval = {
  type: 'string',
  enum: ['minute', 'hour', 'day', 'week', 'month', 'year'],
  description: 'Calendar interval in UTC. A week begins on Monday.',
} as const;
const matches = { ...count, description: 'Number of matches.' } as const;
const valuesType = { type: 'string', const: 'values', description: 'The kind of the facet.' } as const;
const histogramType = { type: 'string', const: 'histogram', description: 'The kind of the facet.' } as const;
const countedColumn = { type: 'string', description: 'The column of the request.' } as const;

export const valuesFacet = {
  type: 'object',
  description: 'The most frequent values of a column, with the number of matching records each.',
  required: ['column'],
  additionalProperties: false,
  properties: {
    column,
    type: { ...valuesType, description: 'The kind of the facet. Default: `values`.' },
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
    type: histogramType,
    interval: { type: 'number', exclusiveMinimum: 0, description: 'Width of the intervals.' },
  },
} as const;

export const timeFacet = {
  type: 'object',
  description: 'Counts of matching records by calendar interval (UTC) of one of their times.',
  required: ['time', 'interval'],
  additionalProperties: false,
  properties: { time, interval: calendarInterval },
} as const;

export const facet = {
  description: 'Counts the matches by the values of a column, or by intervals of numbers or times.',
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
  description: 'The result of a `values` facet.',
  required: ['column', 'type', 'values'],
  additionalProperties: false,
  properties: {
    column: countedColumn,
    type: valuesType,
    values: {
      type: 'array',
      description: 'Most frequent first; ties by type (boolean, number, string) and value.',
      items: {
        type: 'object',
        required: ['value', 'count'],
        additionalProperties: false,
        properties: {
          value: { type: ['string', 'number', 'boolean'], description: 'A value of the column.' },
          count: matches,
        },
      },
    },
    other: { ...count, description: 'Matches with a value that is not listed.' },
    missing: { ...count, description: 'Matches without a value: the column is absent or null.' },
  },
} as const;

export const histogramCounts = {
  type: 'object',
  description: 'The result of a `histogram` facet.',
  required: ['column', 'type', 'interval', 'buckets'],
  additionalProperties: false,
  properties: {
    column: countedColumn,
    type: histogramType,
    interval: { type: 'number', description: 'Width of the intervals.' },
    buckets: {
      type: 'array',
      description: 'In ascending order, without empty intervals.',
      items: {
        type: 'object',
        required: ['from', 'count'],
        additionalProperties: false,
        properties: { from: { type: 'number', description: 'Start of the interval.' }, count: matches },
      },
    },
    missing: { ...count, description: 'Matches whose column holds no number.' },
  },
} as const;

export const timeCounts = {
  type: 'object',
  description: 'The result of a facet of times.',
  required: ['time', 'interval', 'buckets'],
  additionalProperties: false,
  properties: {
    time,
    interval: calendarInterval,
    buckets: {
      type: 'array',
      description: 'In ascending order, without empty intervals.',
      items: {
        type: 'object',
        required: ['from', 'count'],
        additionalProperties: false,
        properties: { from: { ...utcTime, description: 'Start of the interval.' }, count: matches },
      },
    },
  },
} as const;

export const facetCounts = {
  description: 'The counts of one facet.',
  anyOf: [
    { $ref: '#/components/schemas/ValuesCounts' },
    { $ref: '#/components/schemas/HistogramCounts' },
    { $ref: '#/components/schemas/TimeCounts' },
  ],
} as const;
