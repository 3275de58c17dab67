import type { FastifyRequest } from 'fastify';
import { CosiftError, withoutPlace } from '../../errors.js';
import { checkDeleteRequest, isKeyReference, parseJson, type RecordPatch, UUID } from '../../schema/index.js';
import { callerOf, databaseOf, refuseFiltered, scopeOf } from '../admission/access.js';
import { withAbortAndTimeout, withTimeout } from '../admission/deadlines.js';
import { flag, matching, type Values, wholeNumber } from '../http/query-parameters.js';
import { sendJson } from '../http/send-json.js';
import { MODEL_ERRORS, WRITE_ERRORS } from '../operation.js';
import type { Resource } from './resource.js';
import { optionsOf, sendLines } from './writes.js';

const RECORD_QUERY = {
  vectors: flag(
    'Whether the record has its stored vectors: `true` or `false`, the default.',
    'true or false',
  ),
};

const DELETE_QUERY = {
  if_changed_at: matching(
    { type: 'string', pattern: '^.{1,64}$' },
    'Deletes the record only if it was last changed at this time, which is ISO 8601 with Z or an offset.',
    'a time',
  ),
};

const REPLACE_QUERY = {
  max_deletes: wholeNumber(
    'How many records may be deleted, at least 0. Default: a tenth of the records at the start, or 10 if that is ' +
      'more; none for a source without records.',
    [0, () => Number.MAX_SAFE_INTEGER],
    undefined,
  ),
};

export const RECORDS: Resource = {
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
      'precondition_failed',
      ...MODEL_ERRORS,
      ...WRITE_ERRORS,
    ],
    kind: 'writes',
    handler: (dependencies) => async (request, reply) => {
      refuseFiltered(request, 'upsert records');
      const { databases, keys, timeouts } = dependencies;
      const { body } = request;
      if (!(body instanceof Uint8Array)) {
        return sendLines(dependencies, request, reply, (...lines) => databases.writer.upsertLines(...lines));
      }
      const id = databaseOf(request);
      return sendJson(
        reply,
        await withAbortAndTimeout(request, reply, timeouts.writeMs, ({ signal }) =>
          databases.writer.upsertBatch(id, body, optionsOf(request, keys, signal)),
        ),
      );
    },
  },
  replaceRecords: {
    method: 'PUT',
    path: '/v1/databases/{id}/records',
    tag: 'Records',
    summary: 'Replace all records',
    description:
      'Upserts a stream of NDJSON, then deletes the records that it lacks. Each record needs its `id`, `uuid` or ' +
      '`key`. A record that another caller writes meanwhile stays. Nothing is deleted unless the body arrives as a whole, every line is stored, and no more than ' +
      '`max_deletes` records are missing: otherwise the last line is an `error`. The lines of the response are those of ' +
      'a streamed upsert, and its summary has `deleted`.',
    actions: ['records.write'],
    lines: 'NewRecord',
    query: REPLACE_QUERY,
    success: [
      {
        status: 200,
        description: 'What became of the lines',
        schema: 'LineEvent',
        type: 'application/x-ndjson',
      },
    ],
    errors: ['deletion_refused', ...MODEL_ERRORS, ...WRITE_ERRORS],
    kind: 'writes',
    handler: (dependencies) => async (request, reply) => {
      refuseFiltered(request, 'replace records');
      const { max_deletes: maxDeletes } = request.query as Values<typeof REPLACE_QUERY>;
      return sendLines(dependencies, request, reply, (id, chunks, options) =>
        dependencies.databases.writer.replaceLines(id, chunks, { ...options, maxDeletes }),
      );
    },
  },
  readRecord: {
    method: 'GET',
    path: '/v1/databases/{id}/records/{rid}',
    tag: 'Records',
    summary: 'Read one record',
    actions: ['records.read'],
    query: RECORD_QUERY,
    success: [{ status: 200, description: 'The record', schema: 'Record' }],
    errors: ['record_not_found'],
    kind: 'reads',
    handler:
      ({ databases, timeouts }) =>
      async (request, reply, { form, type }) => {
        const rid = recordIdOf(request);
        const { vectors } = request.query as Values<typeof RECORD_QUERY>;
        const id = databaseOf(request);
        const record = await withTimeout(request, timeouts.responseMs, () =>
          databases.reader.record(id, String(rid), { form, vectors }, scopeOf(request)),
        );
        return sendJson(reply, record, type);
      },
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
    success: [{ status: 200, description: 'The record after the patch', schema: 'Record' }],
    errors: ['record_not_found', 'invalid_record', 'precondition_failed', ...MODEL_ERRORS, ...WRITE_ERRORS],
    kind: 'writes',
    handler:
      ({ databases, keys, timeouts }) =>
      async (request, reply, { form, type }) => {
        // The record may be outside the filter, before the patch or after it.
        refuseFiltered(request, 'patch records');
        const rid = recordIdOf(request);
        if (!(request.body instanceof Uint8Array))
          throw new CosiftError('invalid_request', 'the body is missing');
        const patch = request.body;
        const id = databaseOf(request);
        const record = await withAbortAndTimeout(request, reply, timeouts.writeMs, ({ signal }) =>
          databases.writer.patchRecord(id, String(rid), form, patch, optionsOf(request, keys, signal)),
        );
        return callerOf(request).actions.has('records.read')
          ? sendJson(reply, record, type)
          : reply.header('content-type', type).send(withColumnsOf(parseJson(patch), parseJson(record)));
      },
  },
  deleteRecord: {
    method: 'DELETE',
    path: '/v1/databases/{id}/records/{rid}',
    tag: 'Records',
    summary: 'Delete one record',
    actions: ['records.write'],
    success: [{ status: 204, description: 'The record is deleted' }],
    query: DELETE_QUERY,
    errors: ['record_not_found', 'invalid_time', 'precondition_failed', ...WRITE_ERRORS],
    kind: 'writes',
    handler:
      ({ databases, keys, timeouts }) =>
      async (request, reply) => {
        const rid = recordIdOf(request);
        const { if_changed_at } = request.query as Values<typeof DELETE_QUERY>;
        const ids = [if_changed_at === undefined ? rid : { id: rid, if_changed_at }];
        const id = databaseOf(request);
        const { deleted } = await withAbortAndTimeout(request, reply, timeouts.responseMs, ({ signal }) =>
          databases.writer.deleteRecords(id, { ids }, optionsOf(request, keys, signal)),
        ).catch((error) => {
          throw error instanceof CosiftError ? withoutPlace(error, '/ids/0') : error;
        });
        if (deleted === 0) throw new CosiftError('record_not_found', `there is no record ${rid}`);
        return reply.code(204).send();
      },
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
    errors: ['invalid_filter', 'invalid_time', 'precondition_failed', ...WRITE_ERRORS],
    kind: 'writes',
    handler:
      ({ databases, keys, limits, timeouts }) =>
      async (request, reply) => {
        const deletion = checkDeleteRequest(request.body, limits);
        const id = databaseOf(request);
        return withAbortAndTimeout(request, reply, timeouts.responseMs, ({ signal }) =>
          databases.writer.deleteRecords(id, deletion, optionsOf(request, keys, signal)),
        );
      },
  },
};

function recordIdOf(request: FastifyRequest): number | string {
  const { rid: text } = request.params as { rid: string };
  if (UUID.test(text)) return text.toLowerCase();
  if (isKeyReference(text)) return text;
  const id = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(id)) return id;
  throw new CosiftError(
    'invalid_request',
    'a record id in a path is an integer from 1, a UUID, or key: and a key of up to 512 bytes',
  );
}

/** Returns the record with only the columns of the patch. The caller knows these already. */
function withColumnsOf(patch: RecordPatch, record: Record<string, unknown>): object {
  const given = new Set(columnsIn(patch.data ?? {}));
  const data = Object.entries(record.data as object).filter(([column]) => given.has(column));
  return { ...record, data: Object.fromEntries(data) };
}

/** The names of the columns of data, in which objects may be nested. */
function columnsIn(data: object): string[] {
  return Object.entries(data).flatMap(([name, value]) => {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? columnsIn(value).map((member) => `${name}.${member}`) : [name];
  });
}
