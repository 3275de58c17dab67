import type { FastifyRequest } from 'fastify';
import type { Stop } from '../../async/stoppable.js';
import { TurnBudget } from '../../async/turn-budget.js';
import type { PageOptions, PageReply, RecordForm, Scope } from '../../databases/index.js';
import { besideErrors, CosiftError, isCode, refusalOf } from '../../errors.js';
import {
  checkMapRequest,
  checkQueryRequest,
  checkSearchRequest,
  type Limits,
  MAX_SEARCHES,
  type SearchRequest,
} from '../../schema/index.js';
import { checkMayRead, databaseOf, scopeOf } from '../admission/access.js';
import { withAbortAndTimeout } from '../admission/deadlines.js';
import { inSearch } from '../http/parse-searches.js';
import { problemBody } from '../http/problem-response.js';
import { sendJson } from '../http/send-json.js';
import { MODEL_ERRORS } from '../operation.js';
import type { Declared, Representation, Resource } from './resource.js';

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
        reply.header('server-timing', timingText(timings));
        return sendJson(reply, body, type);
      };
    },
  };
}

function timingText({ embedMs, searchMs, totalMs }: PageReply['timings']): string {
  return `embed;dur=${embedMs.toFixed(2)}, search;dur=${searchMs.toFixed(2)}, total;dur=${totalMs.toFixed(2)}`;
}

/** A search in place of those of a batch, so that one that is not valid does not make the batch invalid. */
const ANY_SEARCH: SearchRequest = { search: { text: '-' } };

/** Checks each search of a batch as a single one. Each is replaced by its checked request or by its error. */
async function checkedSearches(
  request: FastifyRequest,
  limits: Limits,
  check: Representation['check'],
): Promise<(SearchRequest | CosiftError)[]> {
  const body = request.body as { searches?: unknown } | null;
  const given = body?.searches;
  check(Array.isArray(given) ? { ...body, searches: given.map(() => ANY_SEARCH) } : body);
  const turns = new TurnBudget();
  const checked: (SearchRequest | CosiftError)[] = [];
  for (const search of given as unknown[]) {
    try {
      const valid = checkSearchRequest(search, limits, (value) => check(value, 'SearchRequest'));
      if (valid.vectors) checkMayRead(request, '"vectors"');
      checked.push(valid);
    } catch (error) {
      checked.push(isCode(error, 'forbidden') ? error : refusalOf(error));
    }
    if (turns.isUsed) await turns.next();
  }
  return checked;
}

/** The JSON of a `SearchOutcomes`. */
async function outcomesJson(
  pages: readonly (Uint8Array | CosiftError)[],
  requestId: string,
): Promise<Uint8Array> {
  const turns = new TurnBudget();
  const parts: Uint8Array[] = [];
  let failed = 0;
  for (const [at, page] of pages.entries()) {
    parts.push(Buffer.from(at === 0 ? '{"pages":[' : ','));
    if (page instanceof CosiftError) {
      failed += 1;
      const problem = problemBody(inSearch(page, at), requestId);
      parts.push(Buffer.from(JSON.stringify({ status: problem.status, problem })));
    } else parts.push(Buffer.from('{"status":200,"page":'), page, Buffer.from('}'));
    if (turns.isUsed) await turns.next();
  }
  return Buffer.concat([...parts, Buffer.from(`],"failed":${failed}}`)]);
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
  searches: {
    method: 'POST',
    path: '/v1/databases/{id}/searches',
    tag: 'Search',
    kind: 'searches',
    isBatch: true,
    counted: { member: 'searches', max: MAX_SEARCHES },
    summary: 'Run several searches at once',
    description:
      'Up to 64 searches of one moment, which share the reads of the vectors. Each has a page or a problem of its own, ' +
      'and counts as a request.',
    actions: ['search'],
    body: 'SearchesRequest',
    success: [{ status: 200, description: 'A page or a problem for each search', schema: 'SearchOutcomes' }],
    errors: SEARCH_ERRORS,
    handler: ({ databases, limits, timeouts, metrics, inFlight }) => {
      const checkRoom = (request: FastifyRequest) => inFlight.checkUnsent(request, limits.page_bytes);
      return async (request, reply, { form, type, check }) => {
        const checked = await checkedSearches(request, limits, check);
        const id = databaseOf(request);
        const pages = await withAbortAndTimeout(request, reply, timeouts.responseMs, (stop) =>
          besideErrors(checked, async (valid: SearchRequest[]) => {
            const call = new PageCall(form, request, stop, checkRoom);
            const { pages, timings } = await databases.reader.searches(id, valid, call);
            metrics.observePage(timings);
            reply.header('server-timing', timingText(timings));
            return pages;
          }),
        );
        return sendJson(reply, await outcomesJson(pages, request.id), type);
      };
    },
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
