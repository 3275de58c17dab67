import { isIP } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { requestsIn } from '../operation.js';
import type { Metrics } from './metrics.js';

/** A W3C `traceparent` header: version, trace id, parent id, flags. */
export const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Logs and measures each response. */
export function logRequests(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onResponse', (request, reply, done) => {
    logResponse(request, reply, metrics);
    done();
  });
}

/** Logs and measures a response. Headers and bodies are not logged, so the log never contains an API key. */
export function logResponse(request: FastifyRequest, reply: FastifyReply, metrics: Metrics): void {
  const { operationId = 'unknown' } = request;
  const ms = reply.elapsedTime;
  metrics.observeRequest(operationId, reply.statusCode, ms / 1000);
  request.log.info(
    {
      method: request.method,
      path: request.url.split('?', 1)[0],
      operation: operationId,
      status: reply.statusCode,
      searches: request.operation?.isBatch ? requestsIn(request) : undefined,
      ms: Math.round(ms * 100) / 100,
      key_id: request.caller?.keyId,
      client: clientOf(request),
    },
    'answered',
  );
}

/** The address of the client. A proxy may pass on what the client has written into the header. */
function clientOf({ ip, socket }: FastifyRequest): string | undefined {
  return isIP(ip) === 0 ? socket.remoteAddress : ip;
}
