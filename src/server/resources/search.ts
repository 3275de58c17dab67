import type { FastifyRequest } from 'fastify';
import type { Stop } from '../../async/stoppable.js';
import type { PageOptions, RecordForm, Scope } from '../../databases/index.js';
import { databaseOf, scopeOf } from '../admission/access.js';
import { withAbortAndTimeout } from '../admission/deadlines.js';
import { sendJson } from '../http/send-json.js';
import { MODEL_ERRORS, shown } from '../operation.js';
import { checkBody, negotiate, VARIANT_A, VARIANT_B, type Variant } from '../variants/variants.js';
import type { Resource, Served } from './resource.js';

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

/** An operation on the matches of a request, in a variant. */
function operationOf(
  kind: 'search' | 'query' | 'map',
  variant: Variant,
  own: Pick<Served, 'summary' | 'description' | 'actions' | 'success' | 'errors'>,
): Served {
  return {
    method: 'POST',
    path: `${variant.path}/${kind}`,
    tag: 'Search',
    body: variant.components[kind],
    kind: 'searches',
    ...own,
    handler: ({ databases, limits, timeouts, metrics, inFlight }) => {
      // Checked before the search, so that no page is made that could not be sent.
      const checkRoom = (request: FastifyRequest) => inFlight.checkUnsent(request, limits.page_bytes);
      return async (request, reply) => {
        const dialect = negotiate(request, variant);
        const checked = checkBody[kind](dialect, request.body, limits);
        const id = databaseOf(request);
        const { body, timings } = await withAbortAndTimeout(request, reply, timeouts.responseMs, (stop) =>
          databases.reader[kind](id, checked as never, new PageCall(dialect.form, request, stop, checkRoom)),
        );
        metrics.observePage(timings);
        const { embedMs, searchMs, totalMs } = timings;
        reply.header(
          'server-timing',
          `embed;dur=${embedMs.toFixed(2)}, search;dur=${searchMs.toFixed(2)}, total;dur=${totalMs.toFixed(2)}`,
        );
        return sendJson(reply, body, dialect.type);
      };
    },
  };
}

const search = (variant: Variant) =>
  operationOf('search', variant, {
    summary: `Search records by meaning (${variant.title})`,
    description: variant.description,
    actions: ['search'],
    success: shown('A page, most relevant first', variant.components.page, 'Page'),
    errors: SEARCH_ERRORS,
  });

const query = (variant: Variant) =>
  operationOf('query', variant, {
    summary: `Filter records without a search (${variant.title})`,
    actions: ['search'],
    success: shown('A page, last synced first unless sorted', variant.components.page, 'Page'),
    errors: QUERY_ERRORS,
  });

const map = (variant: Variant) =>
  operationOf('map', variant, {
    summary: `Put matches on a map (${variant.title})`,
    description:
      'Records of similar meaning are near each other: the plane is that of the two principal axes of the vectors. ' +
      'The same records have the same places on every machine, in any order.',
    actions: ['records.read'],
    success: shown('The first matches as points', variant.components.points, 'Points'),
    errors: SEARCH_ERRORS.filter((code) => code !== 'invalid_cursor'),
  });

export const SEARCH: Resource = {
  searchA: search(VARIANT_A),
  searchB: search(VARIANT_B),
  queryA: query(VARIANT_A),
  queryB: query(VARIANT_B),
  mapA: map(VARIANT_A),
  mapB: map(VARIANT_B),
};
