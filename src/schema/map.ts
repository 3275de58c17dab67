import { column } from './filter.js';
import { integerId, uuid } from './ids.js';
import { MAX_MAP_COLUMNS } from './limits.js';
import { score } from './pages.js';

/** Points of a map at most. */
export const MAP_POINTS = 2_000;

export function mapRequestSchema(group: string) {
  return {
    type: 'object',
    description: `Which records to put on a map: the first ${MAP_POINTS.toLocaleString('en')} matches of a search, or of a query.`,
    additionalProperties: false,
    properties: {
      search: {
        $ref: '#/components/schemas/Search',
        description: 'What to search for. Default: the records that were last synced.',
      },
      filter: {
        $ref: `#/components/schemas/${group}`,
        description: 'Rules that every record satisfies. Default: all records.',
      },
      time_range: { $ref: '#/components/schemas/TimeRange' },
      columns: {
        type: 'array',
        maxItems: MAX_MAP_COLUMNS,
        items: column,
        description: 'The columns that each point has in its `data`. Default: none.',
      },
    },
    examples: [
      {
        search: { text: 'towers that were once the tallest building in the world', threshold: 0.3 },
        columns: ['kind'],
      },
    ],
  } as const;
}

export const mapRequest = mapRequestSchema('FilterGroup');

const place = {
  x: { type: 'number', description: 'Place along the direction in which the vectors differ most.' },
  y: { type: 'number', description: 'Place along the direction in which the vectors differ second most.' },
  data: {
    $ref: '#/components/schemas/Data',
    description: 'Values of the columns of the request, where the record has them.',
  },
} as const;

/** The schema of a point with these members for the identity of its record. */
export function pointSchema<Identity extends object>(identity: Identity) {
  return {
    type: 'object',
    description: 'A record on a map.',
    required: [...Object.keys(identity), 'x', 'y', 'data'],
    additionalProperties: false,
    properties: { ...identity, relevance_score: score, ...place },
  } as const;
}

export const point = pointSchema({ id: integerId, uuid });

export function pointsSchema(point: string) {
  return {
    type: 'object',
    description: 'Records as points of a plane: the nearer two points, the more alike are their texts.',
    required: ['points', 'variance', 'has_more'],
    additionalProperties: false,
    properties: {
      points: {
        type: 'array',
        items: { $ref: `#/components/schemas/${point}` },
        description:
          'In the order of the results. Fewer where the limit `page_bytes` ends them. Records without a vector have no place.',
      },
      variance: {
        type: 'array',
        minItems: 2,
        maxItems: 2,
        items: { type: 'number', minimum: 0, maximum: 1 },
        description:
          'The part of the differences between the vectors that `x` shows, and the part that `y` shows.',
      },
      has_more: { type: 'boolean', description: 'Whether there are further matches, which have no point.' },
    },
  } as const;
}

export const points = pointsSchema('Point');
