import type { FastifyRequest } from 'fastify';
import type { Stop } from '../../async/stoppable.js';
import type { PageOptions, RecordForm, Scope } from '../../databases/index.js';
import { checkMapRequest, checkQueryRequest, checkSearchRequest } from '../../schema/index.js';
import { checkMayRead, databaseOf, scopeOf } from '../admission/access.js';
import { withAbortAndTimeout } from '../admission/deadlines.js';
import { sendJson } from '../http/send-json.js';
import { MODEL_ERRORS } from '../operation.js';
import type { Declared, Resource } from './resource.js';

/** The options of one call. Its signal is read only when it is needed. */
class PageCall implements PageOptions {
  readonly form: RecordForm;
  readonly scope: Scope;
  readonly check: () => void;
  readonly #stop: Stop;

  constructor(
    form: RecordForm,
    request: FastifyRequest,
    stop: Stop,
    check: (request: FastifyRequest) => void,
  ) {
    this.form = form;
    this.scope = scopeOf(request);
    this.check = () => check(request);
    this.#stop = stop;
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  get isStopped(): boolean {
    return this.#stop.isStopped;
  }
}

const QUERY_ERRORS = ['invalid_filter', 'invalid_cursor', 'invalid_time'] as const;
const SEARCH_ERRORS = [...QUERY_ERRORS, 'invalid_vector', 'invalid_dimensions', ...MODEL_ERRORS] as const;

const CHECKS = { search: checkSearchRequest, query: checkQueryRequest, map: checkMapRequest };

/** The part of the operations on the matches of a request that is the same for all. */
function matchesOf(
  kind: keyof typeof CHECKS,
): Pick<Declared, 'method' | 'path' | 'tag' | 'kind' | 'handler'> {
  return {
    method: 'POST',
    path: `/v1/databases/{id}/${kind}`,
    tag: 'Search',
    kind: 'searches',
    handler: ({ databases, limits, timeouts, metrics, inFlight }) => {
      // Checked before the search, so that no page is made that could not be sent.
      const checkRoom = (request: FastifyRequest) => inFlight.checkUnsent(request, limits.page_bytes);
      return async (request, reply, { form, type, check }) => {
        const checked = CHECKS[kind](request.body, limits, check);
        if ('vectors' in checked && checked.vectors) checkMayRead(request, '"vectors"');
        const id = databaseOf(request);
        const { body, timings } = await withAbortAndTimeout(request, reply, timeouts.responseMs, (stop) =>
          databases.reader[kind](id, checked as never, new PageCall(form, request, stop, checkRoom)),
        );
        metrics.observePage(timings);
        const { embedMs, searchMs, totalMs } = timings;
        reply.header(
          'server-timing',
          `embed;dur=${embedMs.toFixed(2)}, search;dur=${searchMs.toFixed(2)}, total;dur=${totalMs.toFixed(2)}`,
        );
        return sendJson(reply, body, type);
      };
    },
  };
}

export const SEARCH: Resource = {
  search: {
    ...matchesOf('search'),
    summary: 'Search records by meaning',
    actions: ['search'],
    body: 'SearchRequest',
    success: [{ status: 200, description: 'A page, most relevant first', schema: 'Page' }],
    errors: SEARCH_ERRORS,
  },
  query: {
    ...matchesOf('query'),
    summary: 'Filter records without a search',
    actions: ['search'],
    body: 'QueryRequest',
    success: [{ status: 200, description: 'A page, last synced first unless sorted', schema: 'Page' }],
    errors: QUERY_ERRORS,
  },
  map: {
    ...matchesOf('map'),
    summary: 'Put matches on a map',
    description:
      'Records of similar meaning are near each other: the plane is that of the two principal axes of the vectors. ' +
      'The same records have the same places on every machine, in any order.',
    actions: ['records.read'],
    body: 'MapRequest',
    success: [{ status: 200, description: 'The first matches as points', schema: 'Points' }],
    errors: SEARCH_ERRORS.filter((code) => code !== 'invalid_cursor'),
  },
};
