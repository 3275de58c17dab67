import { column } from './filter.js';
import { count, instant, list, object, oneOf, ref, text } from './json-schema.js';
import { DEFAULTS } from './limits.js';

const time = oneOf(
  ['created', 'changed', 'synced'],
  'Which time of a record is counted: when it was first seen (`created`), when its content last changed ' +
    '(`changed`), or when it was last seen (`synced`).',
);
const calendarInterval = oneOf(
  ['minute', 'hour', 'day', 'week', 'month', 'year'],
  'Calendar interval in UTC. A week begins on Monday.',
);
const matches = count('Number of matches.');
const valuesType = { type: 'string', const: 'values', description: 'The kind of the facet.' } as const;
const histogramType = { type: 'string', const: 'histogram', description: 'The kind of the facet.' } as const;
const countedColumn = text('The column of the request.');

export const valuesFacet = object(
  'The most frequent values of a column, with the number of matching records each. A list counts once for each of its ' +
    'different elements.',
  {
    column,
    'type?': { ...valuesType, description: 'The kind of the facet. Default: `values`.' },
    'limit?': {
      type: 'integer',
      minimum: 1,
      maximum: 100,
      description: `Maximum number of values. Default: ${DEFAULTS.facet_values}.`,
    },
  },
);

export const histogramFacet = object(
  'Counts of the numbers of a column in intervals [k·interval, (k+1)·interval). A list counts once in each interval ' +
    'with a number of it.',
  {
    column,
    type: histogramType,
    interval: { type: 'number', exclusiveMinimum: 0, description: 'Width of the intervals.' },
  },
);

export const timeFacet = object(
  'Counts of matching records by calendar interval (UTC) of one of their times.',
  { time, interval: calendarInterval },
);

export const facet = {
  description: 'Counts the matches by the values of a column, or by intervals of numbers or times.',
  if: { type: 'object', required: ['time'] },
  // biome-ignore lint/suspicious/noThenProperty: the keyword's name
  then: ref('TimeFacet'),
  else: {
    if: { type: 'object', required: ['type'], properties: { type: { const: 'histogram' } } },
    // biome-ignore lint/suspicious/noThenProperty: the keyword's name
    then: ref('HistogramFacet'),
    else: {
      if: { type: 'object', properties: { type: { const: 'values' } } },
      // biome-ignore lint/suspicious/noThenProperty: the keyword's name
      then: ref('ValuesFacet'),
      else: { type: 'object', properties: { type: { enum: ['values', 'histogram'] } } },
    },
  },
} as const;

export const valuesCounts = object('The result of a `values` facet.', {
  column: countedColumn,
  type: valuesType,
  values: list(
    object(undefined, {
      value: { type: ['string', 'number', 'boolean'], description: 'A value of the column.' },
      count: matches,
    }),
    'Most frequent first; ties by type (boolean, number, string) and value.',
  ),
  'other?': count('Matches with a value that is not listed. A list counts once for each such element.'),
  'missing?': count('Matches without a value: the column is absent, null or an empty list.'),
});

function bucketsFrom(from: object) {
  return list(object(undefined, { from, count: matches }), 'In ascending order, without empty intervals.');
}

export const histogramCounts = object('The result of a `histogram` facet.', {
  column: countedColumn,
  type: histogramType,
  interval: { type: 'number', description: 'Width of the intervals.' },
  buckets: bucketsFrom({ type: 'number', description: 'Start of the interval.' }),
  'missing?': count('Matches whose column holds no number.'),
});

export const timeCounts = object('The result of a facet of times.', {
  time,
  interval: calendarInterval,
  buckets: bucketsFrom(instant('Start of the interval.')),
});

export const facetCounts = {
  description: 'The counts of one facet.',
  anyOf: [ref('ValuesCounts'), ref('HistogramCounts'), ref('TimeCounts')],
} as const;
