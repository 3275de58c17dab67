import { column } from './filter.js';
import { integerId, uuid } from './ids.js';
import { flag, list, type Members, object, ref } from './json-schema.js';
import { MAX_MAP_COLUMNS } from './limits.js';
import { score } from './pages.js';
import { count } from './plain.js';

/** Points of a map at most. */
export const MAP_POINTS = 2_000;

export function mapRequestSchema(search: string, group: string) {
  return object(
    `Which records to put on a map: the first ${count(MAP_POINTS)} matches of a search, or of a query.`,
    {
      'search?': ref(search, 'What to search for. Default: the records that were last synced.'),
      'filter?': ref(group, 'Rules that every record satisfies. Default: all records.'),
      'time_range?': ref('TimeRange'),
      'columns?': list(column, 'The columns that each point has in its `data`. Default: none.', {
        maxItems: MAX_MAP_COLUMNS,
      }),
    },
    {
      examples: [
        {
          search: { text: 'towers that were once the tallest building in the world', threshold: 0.3 },
          columns: ['kind'],
        },
      ],
    },
  );
}

export const mapRequest = mapRequestSchema('Search', 'FilterGroup');

/** The schema of a point with these members for the identity of its record. */
export function pointSchema(identity: Members) {
  return object('A record on a map.', {
    ...identity,
    'relevance_score?': score,
    x: { type: 'number', description: 'Place along the direction in which the vectors differ most.' },
    y: { type: 'number', description: 'Place along the direction in which the vectors differ second most.' },
    data: ref('Data', 'Values of the columns of the request, where the record has them.'),
  });
}

export const point = pointSchema({ id: integerId, uuid });

export function pointsSchema(point: string) {
  return object('Records as points of a plane: the nearer two points, the more alike are their texts.', {
    points: list(
      ref(point),
      'In the order of the results. Fewer where the limit `page_bytes` ends them. Records without a vector have no place.',
    ),
    variance: list(
      { type: 'number', minimum: 0, maximum: 1 },
      'The part of the differences between the vectors that `x` shows, and the part that `y` shows.',
      { minItems: 2, maxItems: 2 },
    ),
    has_more: flag('Whether there are further matches, which have no point.'),
  });
}

export const points = pointsSchema('Point');
