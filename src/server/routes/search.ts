import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Stop } from '../../async/stoppable.js';
import type { PageOptions, PageReply, Scope } from '../../backend/index.js';
import { checkMapRequest, checkQueryRequest, checkSearchRequest, type Variant } from '../../schema/index.js';
import { databaseOf, scopeOf } from '../admission/access.js';
import { withAbortAndTimeout } from '../admission/deadlines.js';
import { sendJson } from '../http/send-json.js';
import type { Dependencies, Handler, Handlers } from './dependencies.js';

/** The options of one call. Its signal is read only when it is needed. */
class PageCall implements PageOptions {
  readonly variant: Variant;
  readonly scope: Scope;
  readonly check: () => void;
  readonly #stop: Stop;

  constructor(
    variant: Variant,
    request: FastifyRequest,
    stop: Stop,
    check: (request: FastifyRequest) => void,
  ) {
    this.variant = variant;
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

/** Handlers of search, query and map in both variants. */
export function searchHandlers({ backend, limits, timeouts, metrics, inFlight }: Dependencies): Handlers {
  // Checked before the search, so that no page is made that could not be sent.
  const checkRoom = (request: FastifyRequest) => inFlight.checkUnsent(request, limits.page_bytes);
  const send = (reply: FastifyReply, { body, timings }: PageReply) => {
    metrics.observePage(timings);
    const { embedMs, searchMs, totalMs } = timings;
    reply.header(
      'server-timing',
      `embed;dur=${embedMs.toFixed(2)}, search;dur=${searchMs.toFixed(2)}, total;dur=${totalMs.toFixed(2)}`,
    );
    return sendJson(reply, body);
  };

  const searchAs =
    (variant: Variant): Handler =>
    async (request, reply) => {
      const search = checkSearchRequest(request.body, variant, limits);
      const id = databaseOf(request);
      const page = await withAbortAndTimeout(request, reply, timeouts.responseMs, (stop) =>
        backend.search(id, search, new PageCall(variant, request, stop, checkRoom)),
      );
      return send(reply, page);
    };

  const queryAs =
    (variant: Variant): Handler =>
    async (request: FastifyRequest, reply) => {
      const query = checkQueryRequest(request.body, variant, limits);
      const id = databaseOf(request);
      const page = await withAbortAndTimeout(request, reply, timeouts.responseMs, (stop) =>
        backend.query(id, query, new PageCall(variant, request, stop, checkRoom)),
      );
      return send(reply, page);
    };

  const mapAs =
    (variant: Variant): Handler =>
    async (request, reply) => {
      const map = checkMapRequest(request.body, variant, limits);
      const id = databaseOf(request);
      const points = await withAbortAndTimeout(request, reply, timeouts.responseMs, (stop) =>
        backend.map(id, map, new PageCall(variant, request, stop, checkRoom)),
      );
      return send(reply, points);
    };

  return {
    searchA: searchAs('uuid'),
    searchB: searchAs('integer'),
    queryA: queryAs('uuid'),
    queryB: queryAs('integer'),
    mapA: mapAs('uuid'),
    mapB: mapAs('integer'),
  };
}
