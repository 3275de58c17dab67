import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import type { Backend, Readiness } from '../backend/backend.js';
import type { Limits } from '../schema/index.js';
import type { InFlight } from './in-flight.js';
import type { KeyStore } from './keys/key-store.js';
import type { Metrics } from './metrics.js';
import type { OperationId } from './operations.js';
import type { Webhooks } from './webhooks/webhooks.js';

export interface Timeouts {
  /** For the head of a request to arrive. */
  headersMs: number;
  /** For a body to arrive; for NDJSON, the longest pause in either direction. */
  bodyMs: number;
  /** For an answer to a search, a query or a read. */
  answerMs: number;
  /** For a batch of records or a delete to be durable. */
  writeMs: number;
  /** For a caller to take more of a response. */
  sendMs: number;
  /** For the rest of a request to arrive once the server stops. */
  stopMs: number;
}

/** What the routes work with. */
export interface Services {
  backend: Backend;
  readiness: () => Readiness;
  keys: KeyStore;
  webhooks: Webhooks;
  limits: Limits;
  timeouts: Timeouts;
  inFlight: InFlight;
  metrics: Metrics;
}

export type Logger = Pick<FastifyBaseLogger, 'info' | 'warn' | 'error'>;
export type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;
export type Handlers = Partial<Record<OperationId, Handler>>;

/** Sends bytes that are JSON already. */
export function sendJson(reply: FastifyReply, body: Uint8Array): FastifyReply {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return reply.header('content-type', 'application/json; charset=utf-8').send(bytes);
}
