import { randomUUID } from 'node:crypto';
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from 'fastify';
import inject from 'light-my-request';
import type { DatabaseService, Readiness } from '../databases/index.js';
import { CosiftError } from '../errors.js';
import { LIMITS, type Limits, searchesBytes } from '../schema/index.js';
import { FollowedSyncs } from '../sync/followed-syncs.js';
import { HeldSyncs } from '../sync/held-syncs.js';
import { databaseNotFound, guardAccess, payerOf } from './admission/access.js';
import { type Capacity, InFlight } from './admission/in-flight.js';
import type { Rate } from './admission/token-bucket.js';
import { sendInChunks, sendOverTurns } from './http/chunked-response.js';
import { compressResponses } from './http/compression.js';
import { limitConnections, startOverTurns } from './http/connections.js';
import { AllowedOrigins } from './http/cors.js';
import { expectContinue } from './http/expect-continue.js';
import { refuseMalformedRequests } from './http/malformed-request.js';
import { asCosiftError, MAX_PARAMETER, sendProblem } from './http/problem-response.js';
import { readQueryParameters } from './http/query-parameters.js';
import { readBodies } from './http/read-body.js';
import { TIMEOUTS, type Timeouts } from './http/timeouts.js';
import type { KeyStore } from './keys/key-store.js';
import { Metrics } from './observability/metrics.js';
import { logRequests, logResponse, TRACEPARENT } from './observability/request-log.js';
import { decorateOperation, setOperation } from './operation.js';
import type { Dependencies } from './resources/resource.js';
import { addRoutes, answerWithoutRoute, everyMethod, RESERVED_IDS } from './routes.js';
import { HTTP_API } from './variants/variants.js';
import type { Webhooks } from './webhooks/webhooks.js';

export interface AppOptions {
  databases: DatabaseService;
  keys: KeyStore;
  webhooks: Webhooks;
  /** The sources that are followed. Default: none. */
  syncs?: FollowedSyncs;
  /** While the service is not ready, requests that need a key get `not_ready`. Default: the readiness of `databases`. */
  readiness?: () => Readiness;
  limits?: Limits;
  /** Rate limit of each key; absent: none. */
  rate?: Rate;
  capacity?: Capacity;
  maxConnections?: number;
  timeouts?: Timeouts;
  /** Whether to serve the page at `/`. Default: yes. */
  page?: boolean;
  /** Origins whose pages may call the service from a browser, or `*`. Default: none. */
  corsOrigins?: readonly string[];
  /** Addresses and CIDR ranges of proxies whose `x-forwarded-for` names the client in the log. Default: none. */
  trustedProxies?: readonly string[];
  /** Whether agents get tools that write. Default: no. */
  mcpWrite?: boolean;
  logger?: FastifyServerOptions['logger'];
}

export const CAPACITY: Capacity = {
  searches: 256,
  reads: 1024,
  writes: 16,
  streams: 16,
  waits: 1024,
  exports: 8,
};
const MAX_CONNECTIONS = 10_000;

/** Bytes of unsent responses that one key may have. More where two pages of the largest size need more. */
const UNSENT_BYTES = 64 << 20;

const REQUEST_ID = /^[\w.:-]{1,128}$/;

/** Builds the HTTP interface of `databases`. It does not listen yet. Closing it leaves the databases open. */
export function buildApp(options: AppOptions): FastifyInstance {
  const { databases, keys, webhooks, limits = LIMITS, timeouts = TIMEOUTS, capacity = CAPACITY } = options;
  const { syncs = new FollowedSyncs(databases, []) } = options;
  const { corsOrigins = [], trustedProxies = [], page = true, mcpWrite = false } = options;
  const app = Fastify({
    logger: options.logger ?? false,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    // Bodies have their own timeout, because a stream of records may take any time.
    requestTimeout: 0,
    keepAliveTimeout: 65_000,
    http: {
      // Checked in a hook, because the response of Node says nothing.
      requireHostHeader: false,
      // By default, Node checks for late requests only every 30 s.
      headersTimeout: timeouts.headersMs,
      connectionsCheckingInterval: Math.min(1_000, timeouts.headersMs),
    },
    bodyLimit: limits.batch_bytes,
    routerOptions: { maxParamLength: MAX_PARAMETER },
    // `HEAD` runs the route of `GET`, and Node drops the body.
    exposeHeadRoutes: false,
    return503OnClosing: false,
    ...(trustedProxies.length > 0 && { trustProxy: [...trustedProxies] }),
    genReqId: ({ headers }) => {
      const given = headers['x-request-id'];
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
    },
    childLoggerFactory(logger, bindings, childOptions, raw) {
      const trace = TRACEPARENT.exec(String(raw.headers.traceparent ?? ''));
      return logger.child(trace === null ? bindings : { ...bindings, trace_id: trace[1] }, childOptions);
    },
    clientErrorHandler: refuseMalformedRequests,
    frameworkErrors: (error, request, reply) => refusePath(error, request, reply),
  });
  // By default, Node leaves out the headers after the first 2,000. Their bytes are limited, too.
  app.server.maxHeadersCount = 0;
  startOverTurns(app.server);
  expectContinue(app);
  // By default, Node refuses an unknown `expect` without a body. It may be ignored (RFC 9110, section 10.1.1).
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));

  const inFlight = new InFlight(capacity, byteCapacity(limits));
  const metrics = new Metrics(databases, inFlight, syncs);
  const held = new HeldSyncs(databases, syncs, timeouts.holdMs);
  app.addHook('onClose', () => held.close());
  const readiness = options.readiness ?? (() => databases.readiness());
  const dependencies: Dependencies = {
    databases,
    readiness,
    keys,
    webhooks,
    syncs,
    held,
    limits,
    timeouts,
    inFlight,
    metrics,
    api: HTTP_API,
    page,
    mcp: {
      // Not `app.inject`, which refuses requests once the server stops: those in flight are still answered.
      inject: (request) => inject(app.routing, request),
      pages: { corsOrigins, hasProxies: trustedProxies.length > 0 },
      allowsWrites: mcpWrite,
    },
  };

  const origins = new AllowedOrigins(corsOrigins, everyMethod());
  /** Sets the headers of every response. Returns whether the request is a preflight of an allowed page. */
  const prepareResponse = (request: FastifyRequest, reply: FastifyReply) => {
    // A cache does not see that the response depends on the key.
    reply.header('x-request-id', request.id).header('cache-control', 'no-store');
    return origins.allow(request, reply);
  };
  // No hook runs for a path that the router refuses.
  const refusePath = (error: Error, request: FastifyRequest, reply: FastifyReply) => {
    reply.raw.once('close', () => logResponse(request, reply, metrics));
    if (prepareResponse(request, reply)) reply.code(204).send();
    else sendProblem(request, reply, asCosiftError(error));
  };
  decorateOperation(app);
  app.addHook('onRequest', (request, reply, done) => {
    setOperation(request);
    const isPreflight = prepareResponse(request, reply);
    checkHost(request);
    // The router takes the last segment of these paths for a record id.
    const { rid } = request.params as { rid?: string };
    const hasRoute = request.operation !== undefined && !RESERVED_IDS.has(rid ?? '');
    // In this hook, because the body of a request to an unknown path must not be read.
    if (hasRoute) done();
    else answerWithoutRoute(request, reply, isPreflight);
  });
  const { maxConnections = MAX_CONNECTIONS } = options;
  limitConnections(app, { maxConnections, sendMs: timeouts.sendMs, stopMs: timeouts.stopMs });
  logRequests(app, metrics);
  guardAccess(app, dependencies, options.rate);
  readQueryParameters(app, limits);
  sendOverTurns(app);
  inFlight.guard(app);
  compressResponses(app, payerOf);
  sendInChunks(app);
  readBodies(app, {
    limits,
    timeoutMs: timeouts.bodyMs,
    reserve: (request, bytes) => inFlight.reserveBody(request, bytes),
    callerOf: payerOf,
  });
  handleErrors(app, databases);
  addRoutes(app, dependencies);
  return app;
}

/** How many bytes requests may hold. The share of a key, whoever issued it, has room for a batch of the largest size. */
function byteCapacity(limits: Limits) {
  const bodies = Math.max(limits.batch_bytes, searchesBytes(limits));
  const unsent = Math.max(UNSENT_BYTES, 2 * limits.page_bytes);
  return {
    bodies: { total: 2 * bodies, perKey: bodies },
    unsent: { total: 4 * unsent, perKey: unsent },
  };
}

/** HTTP/1.1 requires one host (RFC 9112, section 3.2). Node keeps only the first of several. */
function checkHost({ headers, raw }: FastifyRequest): void {
  if (headers.host === undefined && raw.httpVersion !== '1.0') {
    throw new CosiftError('invalid_request', 'the header host is missing');
  }
  let hosts = 0;
  for (let at = 0; at < raw.rawHeaders.length; at += 2) {
    const name = raw.rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  if (hosts > 1) throw new CosiftError('invalid_request', 'the header host is given more than once');
}

function handleErrors(app: FastifyInstance, { aliases }: DatabaseService): void {
  app.setErrorHandler((thrown, request, reply) => {
    let error = asCosiftError(thrown);
    const { id } = (request.params ?? {}) as { id?: string };
    if (error.code === 'database_not_found' && id !== undefined) {
      aliases.forget(id);
      error = databaseNotFound(id);
    }
    return sendProblem(request, reply, error);
  });
  app.setNotFoundHandler((request, reply) => answerWithoutRoute(request, reply, false));
}
