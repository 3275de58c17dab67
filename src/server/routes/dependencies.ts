import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Backend, Readiness } from '../../backend/index.js';
import type { Limits } from '../../schema/index.js';
import type { InFlight } from '../admission/in-flight.js';
import type { Timeouts } from '../http/timeouts.js';
import type { KeyStore } from '../keys/key-store.js';
import type { Metrics } from '../observability/metrics.js';
import type { OperationId } from '../operations/table.js';
import type { Webhooks } from '../webhooks/webhooks.js';

/** Everything that the route handlers need. */
export interface Dependencies {
  backend: Backend;
  readiness: () => Readiness;
  keys: KeyStore;
  webhooks: Webhooks;
  limits: Limits;
  timeouts: Timeouts;
  inFlight: InFlight;
  metrics: Metrics;
}

export type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;
export type Handlers = Partial<Record<OperationId, Handler>>;
