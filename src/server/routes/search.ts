import type { FastifyRequest } from 'fastify';
import type { Stop } from '../../async/stoppable.js';
import type { PageOptions, PageReply, RecordForm, Scope } from '../../backend/index.js';
import { databaseOf, scopeOf } from '../admission/access.js';
import { withAbortAndTimeout } from '../admission/deadlines.js';
import { sendJson } from '../http/send-json.js';
import { checkBody, negotiate, VARIANT_A, VARIANT_B, type Variant } from '../variants/variants.js';
import type { Dependencies, Handler, Handlers } from './dependencies.js';

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

/** Handlers of search, query and map in both variants. */
export function searchHandlers({ backend, limits, timeouts, metrics, inFlight }: Dependencies): Handlers {
  // Checked before the search, so that no page is made that could not be sent.
  const checkRoom = (request: FastifyRequest) => inFlight.checkUnsent(request, limits.page_bytes);
  /** Returns the handler of an operation that sends the page of `ask`. */
  const handlerOf =
    <Kind extends keyof typeof checkBody>(
      kind: Kind,
      ask: (
        id: string,
        request: ReturnType<(typeof checkBody)[Kind]>,
        options: PageOptions,
      ) => Promise<PageReply>,
    ) =>
    (variant: Variant): Handler =>
    async (request, reply) => {
      const dialect = negotiate(request, variant);
      type Checked = ReturnType<(typeof checkBody)[Kind]>;
      const checked = checkBody[kind](dialect, request.body, limits) as Checked;
      const id = databaseOf(request);
      const { body, timings } = await withAbortAndTimeout(request, reply, timeouts.responseMs, (stop) =>
        ask(id, checked, new PageCall(dialect.form, request, stop, checkRoom)),
      );
      metrics.observePage(timings);
      const { embedMs, searchMs, totalMs } = timings;
      reply.header(
        'server-timing',
        `embed;dur=${embedMs.toFixed(2)}, search;dur=${searchMs.toFixed(2)}, total;dur=${totalMs.toFixed(2)}`,
      );
      return sendJson(reply, body, dialect.type);
    };
  const search = handlerOf('search', (id, request, options) => backend.search(id, request, options));
  const query = handlerOf('query', (id, request, options) => backend.query(id, request, options));
  const map = handlerOf('map', (id, request, options) => backend.map(id, request, options));
  return {
    searchA: search(VARIANT_A),
    searchB: search(VARIANT_B),
    queryA: query(VARIANT_A),
    queryB: query(VARIANT_B),
    mapA: map(VARIANT_A),
    mapB: map(VARIANT_B),
  };
}
