import type { FastifyRequest } from 'fastify';
import type { RecordForm } from '../../databases/index.js';
import {
  checkMapRequest,
  checkQueryRequest,
  checkSearchRequest,
  type Limits,
  type MapRequest,
  type QueryRequest,
  type SearchRequest,
} from '../../schema/index.js';
import { JSON_TYPE } from '../http/send-json.js';
import { checkServiceSchema, type ServiceComponent } from './schemas.js';

/** The media type of records with both ids and one set of names, which the client asks for. */
export const RECORD_TYPE = 'application/vnd.cosift+json';

/** What the description of the interface says. */
export const ABOUT_VARIANTS = 'Both variants serve the same records.';

/** What an operation on one record says of its response. */
export const SHOWN_BY_ID =
  'A UUID or a key gets a record of variant A, an integer a record of variant B. ' +
  `With \`accept: ${RECORD_TYPE}\` it has both ids.`;

/** How requests are read, and how records are shown. */
interface Dialect {
  form: RecordForm;
  /** The media type of responses. */
  type: string;
  components: Readonly<Record<'search' | 'query' | 'map' | 'page' | 'points', ServiceComponent>>;
}

/** One of the two variants of the HTTP interface. */
export interface Variant extends Dialect {
  title: string;
  /** The path of its operations. */
  path: string;
  /** In what its searches differ. */
  description: string;
}

export const VARIANT_A: Variant = {
  form: 'uuid',
  type: JSON_TYPE,
  title: 'variant A',
  path: '/v1/databases/{id}/records',
  description: 'Ids are UUIDs; `filter.condition` is required; `time_range` applies to `synced_at`.',
  components: {
    search: 'SearchRequestA',
    query: 'QueryRequestA',
    map: 'MapRequestA',
    page: 'PageA',
    points: 'PointsA',
  },
};

export const VARIANT_B: Variant = {
  form: 'integer',
  type: JSON_TYPE,
  title: 'variant B',
  path: '/v1/databases/{id}',
  description:
    'Ids are integers; `filter.condition` is `AND` when absent; `time_range` applies to `last_seen_time`.',
  components: {
    search: 'SearchRequestB',
    query: 'QueryRequestB',
    map: 'MapRequestB',
    page: 'PageB',
    points: 'PointsB',
  },
};

/** Records with both ids, which either variant gives to a caller that accepts their type. */
const BOTH_IDS: Dialect = {
  form: 'both',
  type: RECORD_TYPE,
  components: {
    search: 'SearchRequest',
    query: 'QueryRequest',
    map: 'MapRequest',
    page: 'Page',
    points: 'Points',
  },
};

/** Returns the dialect of a request: that of its path, or both ids. No cache stores the response. */
export function negotiate<Shown extends Pick<Dialect, 'form' | 'type'>>(
  request: FastifyRequest,
  ofPath: Shown,
): Shown | Dialect {
  return request.headers.accept?.includes(RECORD_TYPE) ? BOTH_IDS : ofPath;
}

/** Like {@link negotiate}, for a record that was asked for by this id: an integer, a UUID, or a key. */
export function negotiateById(request: FastifyRequest, id: number | string) {
  return negotiate(request, { form: formOfId(id), type: JSON_TYPE });
}

/** The form of a record that was asked for by this id. */
export function formOfId(id: number | string): RecordForm {
  return typeof id === 'number' ? 'integer' : 'uuid';
}

/** Checks the body of an operation by the schema of its dialect. */
export const checkBody = {
  search: ({ components }: Dialect, body: unknown, limits?: Limits): SearchRequest =>
    checkSearchRequest(body, limits, (value) => checkServiceSchema(components.search, value)),
  query: ({ components }: Dialect, body: unknown, limits?: Limits): QueryRequest =>
    checkQueryRequest(body, limits, (value) => checkServiceSchema(components.query, value)),
  map: ({ components }: Dialect, body: unknown, limits?: Limits): MapRequest =>
    checkMapRequest(body, limits, (value) => checkServiceSchema(components.map, value)),
};
