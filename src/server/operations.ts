import type { ErrorCode } from '../errors.js';
import { type Action, type ComponentName, epoch, type Variant } from '../schema/index.js';

export interface Parameter {
  name: string;
  description: string;
  schema: object;
}

export interface Success {
  status: number;
  description: string;
  /** JSON of this schema unless `type` says otherwise; none: an empty body. */
  schema?: ComponentName;
  type?: string;
}

/** One method of one path: what its route enforces and what OpenAPI says of it. */
export interface Operation {
  method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  path: string;
  tag: 'Search' | 'Records' | 'Databases' | 'Keys' | 'Service';
  summary: string;
  description?: string;
  variant?: Variant;
  /** The key must have one of these; none: any valid key. */
  actions?: readonly Action[];
  /** Served without a key. */
  open?: true;
  /** JSON of this schema. `Batch` is left to the engine's parser, unparsed. */
  body?: ComponentName;
  /** An absent body is an empty object. */
  bodyOptional?: true;
  /** The body may also be NDJSON of this schema, one a line. */
  lines?: ComponentName;
  query?: readonly Parameter[];
  success: readonly Success[];
  /** Beyond those that every operation of its kind can meet. */
  errors?: readonly ErrorCode[];
  /** How many requests of one kind may be under way is limited. */
  kind?: 'searches' | 'reads' | 'writes' | 'waits';
}

const searchErrors = [
  'invalid_filter',
  'invalid_cursor',
  'invalid_time',
  'invalid_vector',
  'invalid_dimensions',
  'model_mismatch',
] as const;
const queryErrors = ['invalid_filter', 'invalid_cursor', 'invalid_time'] as const;
const writeErrors = ['store_failed', 'disk_full'] as const;
const keyErrors = ['busy', ...writeErrors] as const;

const whole = { type: 'string', pattern: '^(0|[1-9][0-9]{0,15})$' } as const;

export const OPERATIONS = {
  searchA: {
    method: 'POST',
    path: '/v1/databases/{id}/records/search',
    tag: 'Search',
    summary: 'Search records by meaning (variant A)',
    description: 'Ids are UUIDs; `filter.condition` is required; `time_range` applies to `synced_at`.',
    variant: 'a',
    actions: ['search'],
    body: 'SearchRequestA',
    success: [{ status: 200, description: 'A page, most relevant first', schema: 'PageA' }],
    errors: searchErrors,
    kind: 'searches',
  },
  searchB: {
    method: 'POST',
    path: '/v1/databases/{id}/search',
    tag: 'Search',
    summary: 'Search records by meaning (variant B)',
    description:
      'Ids are integers; `filter.condition` is `AND` when absent; `time_range` applies to `last_seen_time`.',
    variant: 'b',
    actions: ['search'],
    body: 'SearchRequestB',
    success: [{ status: 200, description: 'A page, most relevant first', schema: 'PageB' }],
    errors: searchErrors,
    kind: 'searches',
  },
  queryA: {
    method: 'POST',
    path: '/v1/databases/{id}/records/query',
    tag: 'Search',
    summary: 'Filter records without a search (variant A)',
    variant: 'a',
    actions: ['search'],
    body: 'QueryRequestA',
    success: [{ status: 200, description: 'A page, last synced first unless sorted', schema: 'PageA' }],
    errors: queryErrors,
    kind: 'searches',
  },
  queryB: {
    method: 'POST',
    path: '/v1/databases/{id}/query',
    tag: 'Search',
    summary: 'Filter records without a search (variant B)',
    variant: 'b',
    actions: ['search'],
    body: 'QueryRequestB',
    success: [{ status: 200, description: 'A page, last seen first unless sorted', schema: 'PageB' }],
    errors: queryErrors,
    kind: 'searches',
  },
  upsertRecords: {
    method: 'POST',
    path: '/v1/databases/{id}/records',
    tag: 'Records',
    summary: 'Create or change records',
    description:
      'A JSON batch is stored whole or not at all. NDJSON streams any number of records: they are stored in ' +
      'batches as they arrive, and the answer streams a line per bad record, progress, and a closing summary. ' +
      'An acknowledged record is durable and searchable.',
    actions: ['records.write'],
    body: 'Batch',
    lines: 'NewRecord',
    success: [
      { status: 200, description: 'What became of each record', schema: 'BatchResult' },
      { status: 200, description: 'To NDJSON', schema: 'LineEvent', type: 'application/x-ndjson' },
    ],
    errors: [
      'invalid_record',
      'invalid_time',
      'invalid_vector',
      'invalid_dimensions',
      'identity_conflict',
      'model_mismatch',
      ...writeErrors,
    ],
    kind: 'writes',
  },
  readRecord: {
    method: 'GET',
    path: '/v1/databases/{id}/records/{rid}',
    tag: 'Records',
    summary: 'Read one record',
    description: 'A UUID answers in the shape of variant A, an integer in that of variant B.',
    actions: ['records.read'],
    success: [{ status: 200, description: 'The record', schema: 'Record' }],
    errors: ['record_not_found'],
    kind: 'reads',
  },
  deleteRecord: {
    method: 'DELETE',
    path: '/v1/databases/{id}/records/{rid}',
    tag: 'Records',
    summary: 'Delete one record',
    actions: ['records.write'],
    success: [{ status: 204, description: 'It is gone' }],
    errors: ['record_not_found', ...writeErrors],
    kind: 'writes',
  },
  deleteRecords: {
    method: 'POST',
    path: '/v1/databases/{id}/records/delete',
    tag: 'Records',
    summary: 'Delete records by ids, filter or time',
    description: 'A `time_range` with only `end_time` deletes what was not synced since.',
    actions: ['records.write'],
    body: 'DeleteRequest',
    success: [{ status: 200, description: 'How many are gone', schema: 'DeleteResult' }],
    errors: ['invalid_filter', 'invalid_time', ...writeErrors],
    kind: 'writes',
  },
  changes: {
    method: 'GET',
    path: '/v1/databases/{id}/changes',
    tag: 'Records',
    summary: 'Follow what happens to records',
    description:
      'In the order of commits. `position` and `epoch` of one answer are `after` and `epoch` of the next call. ' +
      'A key with a filter sees what is inside the filter, and `deleted` for a record that leaves it.',
    actions: ['records.read'],
    query: [
      { name: 'after', description: 'Position to go on from; 0, the default, is the start.', schema: whole },
      { name: 'limit', description: 'At most this many changes: 1 to 1000, default 100.', schema: whole },
      {
        name: 'wait',
        description: 'Seconds to wait for a first change when there is none: 0, the default, to 60.',
        schema: whole,
      },
      {
        name: 'epoch',
        description:
          'The feed that `after` is a position of: 410 `feed_restarted` when the database has another.',
        schema: epoch,
      },
    ],
    success: [{ status: 200, description: 'Changes after the position', schema: 'Changes' }],
    errors: ['feed_restarted', 'changes_removed'],
    kind: 'waits',
  },
  createWebhook: {
    method: 'POST',
    path: '/v1/databases/{id}/webhooks',
    tag: 'Records',
    summary: 'Have changes posted to a URL',
    description:
      'Each delivery is a `WebhookDelivery`, signed as Standard Webhooks says, in the order of the change feed, ' +
      'and repeated with growing pauses until it is taken.',
    actions: ['databases.manage'],
    body: 'WebhookRequest',
    success: [
      { status: 201, description: 'The webhook, whose secret is shown this once', schema: 'CreatedWebhook' },
    ],
    errors: writeErrors,
    kind: 'writes',
  },
  listWebhooks: {
    method: 'GET',
    path: '/v1/databases/{id}/webhooks',
    tag: 'Records',
    summary: 'List the webhooks of a database and how far each has come',
    actions: ['databases.manage'],
    success: [{ status: 200, description: 'The webhooks', schema: 'WebhookList' }],
    kind: 'reads',
  },
  deleteWebhook: {
    method: 'DELETE',
    path: '/v1/databases/{id}/webhooks/{webhook_id}',
    tag: 'Records',
    summary: 'End a webhook',
    actions: ['databases.manage'],
    success: [{ status: 204, description: 'It is gone' }],
    errors: ['webhook_not_found', ...writeErrors],
  },
  createDatabase: {
    method: 'PUT',
    path: '/v1/databases/{id}',
    tag: 'Databases',
    summary: 'Create a database',
    actions: ['databases.manage'],
    body: 'DatabaseSettings',
    bodyOptional: true,
    success: [
      { status: 201, description: 'Created', schema: 'DatabaseDescription' },
      { status: 200, description: 'It exists with these settings', schema: 'DatabaseDescription' },
    ],
    errors: ['database_exists', 'model_mismatch', 'invalid_dimensions', ...writeErrors],
    kind: 'writes',
  },
  listDatabases: {
    method: 'GET',
    path: '/v1/databases',
    tag: 'Databases',
    summary: 'List the databases that the key sees',
    actions: ['databases.manage', 'records.read'],
    success: [{ status: 200, description: 'The databases', schema: 'DatabaseList' }],
    kind: 'reads',
  },
  describeDatabase: {
    method: 'GET',
    path: '/v1/databases/{id}',
    tag: 'Databases',
    summary: 'Describe a database',
    actions: ['databases.manage', 'records.read'],
    success: [{ status: 200, description: 'The database', schema: 'DatabaseDescription' }],
    kind: 'reads',
  },
  dropDatabase: {
    method: 'DELETE',
    path: '/v1/databases/{id}',
    tag: 'Databases',
    summary: 'Drop a database and its records',
    actions: ['databases.manage'],
    success: [{ status: 204, description: 'It is gone' }],
    errors: writeErrors,
    kind: 'writes',
  },
  startReembedding: {
    method: 'POST',
    path: '/v1/databases/{id}/reembedding',
    tag: 'Databases',
    summary: 'Embed the records with another model',
    description:
      'In the background: searches go on with the vectors there are, writes go on, and once every record has its ' +
      'new vector the database changes over at once. The same request goes on with one that failed.',
    actions: ['databases.manage'],
    body: 'ReembeddingRequest',
    success: [{ status: 202, description: 'How it stands', schema: 'Reembedding' }],
    errors: ['reembedding_running', ...writeErrors],
    kind: 'writes',
  },
  readReembedding: {
    method: 'GET',
    path: '/v1/databases/{id}/reembedding',
    tag: 'Databases',
    summary: 'How the embedding with another model stands',
    description: 'It can be read for as long as it lasts, and after it until the service ends.',
    actions: ['databases.manage', 'records.read'],
    success: [{ status: 200, description: 'How it stands', schema: 'Reembedding' }],
    errors: ['reembedding_not_found'],
    kind: 'reads',
  },
  cancelReembedding: {
    method: 'DELETE',
    path: '/v1/databases/{id}/reembedding',
    tag: 'Databases',
    summary: 'End the embedding with another model',
    description: 'The database stays as it was.',
    actions: ['databases.manage'],
    success: [{ status: 204, description: 'It has ended' }],
    errors: ['reembedding_not_found', ...writeErrors],
    kind: 'writes',
  },
  issueKey: {
    method: 'POST',
    path: '/v1/keys',
    tag: 'Keys',
    summary: 'Issue a key',
    description:
      'A key can do no more than its issuer and expires no later: without `expires_at` it expires with its issuer. With a `filter`, a record outside it does not exist for the key, ' +
      'which then cannot upsert, describe databases or manage anything.',
    actions: ['keys.manage'],
    body: 'KeyRequest',
    success: [{ status: 201, description: 'The key, whose secret is shown this once', schema: 'IssuedKey' }],
    errors: ['invalid_filter', 'invalid_time', ...keyErrors],
  },
  listKeys: {
    method: 'GET',
    path: '/v1/keys',
    tag: 'Keys',
    summary: 'List the keys that this key could have issued',
    actions: ['keys.manage'],
    success: [{ status: 200, description: 'The keys, without their secrets', schema: 'KeyList' }],
  },
  revokeKey: {
    method: 'DELETE',
    path: '/v1/keys/{key_id}',
    tag: 'Keys',
    summary: 'Revoke a key at once',
    description:
      'Only keys that this key could have issued. Keys that the revoked one issued go on unless `descendants` is true.',
    actions: ['keys.manage'],
    query: [
      {
        name: 'descendants',
        description: 'Also revoke the keys that it issued, directly or through others; absent: `false`.',
        schema: { type: 'string', enum: ['true', 'false'] },
      },
    ],
    success: [{ status: 204, description: 'It is revoked' }],
    errors: ['key_not_found', ...keyErrors],
  },
  livez: {
    method: 'GET',
    path: '/livez',
    tag: 'Service',
    summary: 'Whether the process is alive',
    open: true,
    success: [{ status: 200, description: 'Alive', schema: 'Health' }],
  },
  readyz: {
    method: 'GET',
    path: '/readyz',
    tag: 'Service',
    summary: 'Whether model and data are ready',
    open: true,
    success: [
      { status: 200, description: 'Ready', schema: 'Health' },
      { status: 503, description: 'Not ready, and why', schema: 'Health' },
    ],
  },
  metrics: {
    method: 'GET',
    path: '/metrics',
    tag: 'Service',
    summary: 'Metrics for Prometheus',
    description: 'A key of some databases gets only the metrics of each of these.',
    actions: ['databases.manage'],
    success: [{ status: 200, description: 'Prometheus text', type: 'text/plain' }],
    errors: ['busy'],
  },
  openapi: {
    method: 'GET',
    path: '/openapi.json',
    tag: 'Service',
    summary: 'This document',
    open: true,
    success: [{ status: 200, description: 'OpenAPI 3.1', type: 'application/json' }],
  },
  docs: {
    method: 'GET',
    path: '/docs',
    tag: 'Service',
    summary: 'This document, readable',
    open: true,
    success: [{ status: 200, description: 'A page', type: 'text/html' }],
  },
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof OPERATIONS;

/** Every code that an operation can answer with. */
export function errorsOf(operation: Operation): ErrorCode[] {
  const codes = new Set<ErrorCode>(operation.errors);
  if (!operation.open) {
    // `damaged`: the keys cannot be read.
    codes.add('unauthorized').add('rate_limited').add('not_ready').add('damaged');
    if (operation.actions) codes.add('forbidden');
  }
  if (operation.path.includes('/{id}')) codes.add('database_not_found');
  if (operation.path.includes('{') || operation.query) codes.add('invalid_request');
  if (operation.body) {
    codes.add('invalid_json').add('invalid_request').add('too_large');
    codes.add('unsupported_media_type').add('request_timeout');
  }
  if (operation.kind) codes.add('busy').add('timed_out');
  return [...codes.add('internal')];
}
