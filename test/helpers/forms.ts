import {
  checkMapRequest,
  checkQueryRequest,
  checkSearchRequest,
  type Limits,
  type MapRequest,
  type QueryRequest,
  type SearchRequest,
} from '../../src/schema/index.js';
import { checkServiceSchema, type ServiceComponent } from '../../src/server/variants/schemas.js';
import type { RecordForm } from '../../src/store/record-store.js';

/** How requests for records of a form are checked, and what the responses look like. */
interface Form {
  search: (request: unknown, limits?: Limits) => SearchRequest;
  query: (request: unknown, limits?: Limits) => QueryRequest;
  map: (request: unknown, limits?: Limits) => MapRequest;
  record: ServiceComponent;
  page: ServiceComponent;
  points: ServiceComponent;
  /** The names of the times of a record: created, changed, synced. */
  times: readonly [string, string, string];
}

const TIMES = ['created_at', 'changed_at', 'synced_at'] as const;

export const FORMS: Readonly<Record<RecordForm, Form>> = {
  both: {
    search: (request, limits) => checkSearchRequest(request, limits),
    query: (request, limits) => checkQueryRequest(request, limits),
    map: (request, limits) => checkMapRequest(request, limits),
    record: 'Record',
    page: 'Page',
    points: 'Points',
    times: TIMES,
  },
  uuid: { ...checksOf('A'), record: 'RecordA', page: 'PageA', points: 'PointsA', times: TIMES },
  integer: {
    ...checksOf('B'),
    record: 'RecordB',
    page: 'PageB',
    points: 'PointsB',
    times: ['first_seen_time', 'last_changed_time', 'last_seen_time'],
  },
};

export const RECORD_FORMS = ['uuid', 'integer', 'both'] as const;

function checksOf(variant: 'A' | 'B') {
  const checkOf = (name: 'SearchRequest' | 'QueryRequest' | 'MapRequest') => (value: unknown) =>
    checkServiceSchema(`${name}${variant}`, value);
  return {
    search: (request: unknown, limits?: Limits) =>
      checkSearchRequest(request, limits, checkOf('SearchRequest')),
    query: (request: unknown, limits?: Limits) => checkQueryRequest(request, limits, checkOf('QueryRequest')),
    map: (request: unknown, limits?: Limits) => checkMapRequest(request, limits, checkOf('MapRequest')),
  };
}
