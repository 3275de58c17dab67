import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DatabaseService, Readiness } from '../../databases/index.js';
import type { Limits } from '../../schema/index.js';
import type { InFlight } from '../admission/in-flight.js';
import type { Timeouts } from '../http/timeouts.js';
import type { KeyStore } from '../keys/key-store.js';
import type { Metrics } from '../observability/metrics.js';
import type { Operation } from '../operation.js';
import type { Webhooks } from '../webhooks/webhooks.js';

/** What handlers need. */
export interface Dependencies {
  databases: DatabaseService;
  readiness: () => Readiness;
  keys: KeyStore;
  webhooks: Webhooks;
  limits: Limits;
  timeouts: Timeouts;
  inFlight: InFlight;
  metrics: Metrics;
  /** The operations of the API, which its documents describe. */
  operations: Readonly<Record<string, Operation>>;
  /** Whether the page is served. */
  page: boolean;
}

export type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** An operation with its handler. */
export interface Served extends Operation {
  /** Returns the handler for one server. */
  handler(dependencies: Dependencies): Handler;
}

export type Resource = Readonly<Record<string, Served>>;
