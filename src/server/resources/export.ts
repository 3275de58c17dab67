import { CosiftError } from '../../errors.js';
import { checkExportFilter, type FilterGroup, type Limits } from '../../schema/index.js';
import { checkKeyAgain, databaseOf, scopeOf } from '../admission/access.js';
import { flag, type Parameter, type Values } from '../http/query-parameters.js';
import { NDJSON, sendStream } from '../http/streamed-response.js';
import { parseStrictJson } from '../http/strict-json.js';
import type { Resource } from './resource.js';

const filter: Parameter<FilterGroup | undefined> = {
  description: 'A filter as JSON, as `filter` of a query: only records that pass it are exported.',
  schema: { type: 'string' },
  must: () => 'a filter as JSON',
  parse: (text, limits) => checkExportFilter(parsed(Buffer.from(text), limits), limits),
  absent: undefined,
};

const EXPORT_QUERY = {
  vectors: flag('Whether records have their exact vector: `true` or `false`, the default.', 'true or false'),
  filter,
};

export const EXPORT: Resource = {
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
    handler:
      ({ databases, keys, timeouts, inFlight }) =>
      async (request, reply) => {
        const asked = request.query as Values<typeof EXPORT_QUERY>;
        const id = databaseOf(request);
        return sendStream(request, reply, inFlight.closing, {
          type: NDJSON,
          open: (signal) => databases.exports.lines(id, asked, { scope: scopeOf(request), signal }),
          firstMs: timeouts.responseMs,
          check: () => checkKeyAgain(keys, request),
        });
      },
  },
};

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
