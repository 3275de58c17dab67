import { CosiftError } from '../../errors.js';
import { checkExportFilter, DEFAULTS, epoch, type FilterGroup, type Limits } from '../../schema/index.js';
import { flag, matching, type Parameter, wholeNumber } from '../http/query-parameters.js';
import { parseStrictJson } from '../http/strict-json.js';
import { SHOWN_BY_ID } from '../variants/variants.js';
import { MODEL_ERRORS, type Operation, shown, WRITE_ERRORS } from './operation.js';

const MAX_CHANGES = 1000;

export const CHANGES_QUERY = {
  after: wholeNumber(
    'Position after which changes are returned; 0, the default, is the start.',
    [0, () => Number.MAX_SAFE_INTEGER],
    0,
  ),
  limit: wholeNumber(
    'Maximum number of changes: 1 to 1000, default 100.',
    [1, () => MAX_CHANGES],
    DEFAULTS.changes_limit,
  ),
  wait: wholeNumber(
    'Seconds to wait for a change if there is none: 0, the default, to 60.',
    [0, (limits) => limits.change_wait_seconds],
    0,
  ),
  epoch: matching(
    epoch,
    'Epoch of the feed that `after` belongs to. If the database has another epoch: 410 `feed_restarted`.',
    'one that a response of this feed contained',
  ),
};

const filter: Parameter<FilterGroup | undefined> = {
  description: 'A filter as JSON, as `filter` of a query: only records that pass it are exported.',
  schema: { type: 'string' },
  must: () => 'a filter as JSON',
  parse: (text, limits) => checkExportFilter(parsed(Buffer.from(text), limits), limits),
  absent: undefined,
};

export const EXPORT_QUERY = {
  vectors: flag('Whether records have their exact vector: `true` or `false`, the default.', 'true or false'),
  filter,
};

export const RECORDS_OPERATIONS = {
  upsertRecords: {
    method: 'POST',
    path: '/v1/databases/{id}/records',
    tag: 'Records',
    summary: 'Create or change records',
    description:
      'A JSON batch is stored whole or not at all. NDJSON streams any number of records: they are stored in ' +
      'batches as they arrive, and the response streams a line per bad record, progress, and a closing summary. ' +
      'An acknowledged record is durable and searchable.',
    actions: ['records.write'],
    body: 'Batch',
    lines: 'NewRecord',
    success: [
      { status: 200, description: 'The result for each record', schema: 'BatchResult' },
      {
        status: 200,
        description: 'The response to NDJSON',
        schema: 'LineEvent',
        type: 'application/x-ndjson',
      },
    ],
    errors: [
      'invalid_record',
      'invalid_time',
      'invalid_vector',
      'invalid_dimensions',
      'identity_conflict',
      ...MODEL_ERRORS,
      ...WRITE_ERRORS,
    ],
    kind: 'writes',
  },
  readRecord: {
    method: 'GET',
    path: '/v1/databases/{id}/records/{rid}',
    tag: 'Records',
    summary: 'Read one record',
    description: SHOWN_BY_ID,
    actions: ['records.read'],
    success: shown('The record', 'RecordAOrB', 'Record'),
    errors: ['record_not_found'],
    kind: 'reads',
  },
  patchRecord: {
    method: 'PATCH',
    path: '/v1/databases/{id}/records/{rid}',
    tag: 'Records',
    summary: 'Change columns of one record',
    description:
      'Merges `data` into the record by JSON Merge Patch (RFC 7396): null removes a column, and columns that the patch ' +
      'lacks stay as they are. The text is embedded again only if the patch changes it. The response shows the record ' +
      'right after the patch; a key without `records.read` sees only the columns that the patch sets.',
    actions: ['records.write'],
    body: 'RecordPatch',
    mergePatch: true,
    success: shown('The record after the patch', 'RecordAOrB', 'Record'),
    errors: ['record_not_found', 'invalid_record', ...MODEL_ERRORS, ...WRITE_ERRORS],
    kind: 'writes',
  },
  deleteRecord: {
    method: 'DELETE',
    path: '/v1/databases/{id}/records/{rid}',
    tag: 'Records',
    summary: 'Delete one record',
    actions: ['records.write'],
    success: [{ status: 204, description: 'The record is deleted' }],
    errors: ['record_not_found', ...WRITE_ERRORS],
    kind: 'writes',
  },
  deleteRecords: {
    method: 'POST',
    path: '/v1/databases/{id}/records/delete',
    tag: 'Records',
    summary: 'Delete records by ids, filter or time',
    description: 'A `time_range` with only `end_time` deletes the records that were not synced since.',
    actions: ['records.write'],
    body: 'DeleteRequest',
    success: [{ status: 200, description: 'The number of deleted records', schema: 'DeleteResult' }],
    errors: ['invalid_filter', 'invalid_time', ...WRITE_ERRORS],
    kind: 'writes',
  },
  changes: {
    method: 'GET',
    path: '/v1/databases/{id}/changes',
    tag: 'Records',
    summary: 'Read the change feed of a database',
    description:
      'Changes are in the order of commits. `position` and `epoch` of one response are `after` and `epoch` of the next ' +
      'request. A key with a filter sees the records that pass it, and `deleted` for a record that no longer passes.',
    actions: ['records.read'],
    query: CHANGES_QUERY,
    success: [{ status: 200, description: 'Changes after the position', schema: 'Changes' }],
    errors: ['feed_restarted', 'changes_removed'],
    kind: 'waits',
  },
  exportRecords: {
    method: 'GET',
    path: '/v1/databases/{id}/export',
    tag: 'Records',
    summary: 'Export the records of a database',
    description:
      'Streams every record of one moment, in the order of the integer ids, as lines that an upsert takes back. The ' +
      'stream is complete if the response ends as HTTP requires: the connection is closed before the end if the export ' +
      'fails, so that a client reports a failure.',
    actions: ['records.read'],
    query: EXPORT_QUERY,
    success: [
      { status: 200, description: 'A record a line', schema: 'NewRecord', type: 'application/x-ndjson' },
    ],
    errors: ['invalid_filter', 'invalid_json', 'store_failed'],
    kind: 'exports',
  },
} as const satisfies Record<string, Operation>;

/** Parses the filter. Pointers of its errors begin with `/filter`, as those of a filter that is not allowed. */
function parsed(filter: Buffer, limits: Limits): unknown {
  try {
    return parseStrictJson(filter, limits);
  } catch (error) {
    if (!(error instanceof CosiftError)) throw error;
    throw new CosiftError(error.code, `the query parameter "filter": ${error.detail}`, {
      problems: error.problems.map((problem) => ({ ...problem, pointer: `/filter${problem.pointer}` })),
    });
  }
}
