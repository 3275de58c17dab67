import { VARIANT_A, VARIANT_B, type Variant } from '../variants/variants.js';
import { MODEL_ERRORS, type Operation, shown } from './operation.js';

const QUERY_ERRORS = ['invalid_filter', 'invalid_cursor', 'invalid_time'] as const;
const SEARCH_ERRORS = [...QUERY_ERRORS, 'invalid_vector', 'invalid_dimensions', ...MODEL_ERRORS] as const;

const MAP_ERRORS = SEARCH_ERRORS.filter((code) => code !== 'invalid_cursor');
const MAP_DESCRIPTION =
  'Records of similar meaning are near each other: the plane is that of the two principal axes of the vectors. ' +
  'The same records have the same places on every machine, in any order.';

const search = ({ path, title, description, components }: Variant) =>
  ({
    method: 'POST',
    path: `${path}/search`,
    tag: 'Search',
    summary: `Search records by meaning (${title})`,
    description,
    actions: ['search'],
    body: components.search,
    success: shown('A page, most relevant first', components.page, 'Page'),
    errors: SEARCH_ERRORS,
    kind: 'searches',
  }) as const satisfies Operation;

const query = ({ path, title, components }: Variant) =>
  ({
    method: 'POST',
    path: `${path}/query`,
    tag: 'Search',
    summary: `Filter records without a search (${title})`,
    actions: ['search'],
    body: components.query,
    success: shown('A page, last synced first unless sorted', components.page, 'Page'),
    errors: QUERY_ERRORS,
    kind: 'searches',
  }) as const satisfies Operation;

const map = ({ path, title, components }: Variant) =>
  ({
    method: 'POST',
    path: `${path}/map`,
    tag: 'Search',
    summary: `Put matches on a map (${title})`,
    description: MAP_DESCRIPTION,
    actions: ['records.read'],
    body: components.map,
    success: shown('The first matches as points', components.points, 'Points'),
    errors: MAP_ERRORS,
    kind: 'searches',
  }) as const satisfies Operation;

export const SEARCH_OPERATIONS = {
  searchA: search(VARIANT_A),
  searchB: search(VARIANT_B),
  queryA: query(VARIANT_A),
  queryB: query(VARIANT_B),
  mapA: map(VARIANT_A),
  mapB: map(VARIANT_B),
} as const satisfies Record<string, Operation>;
