import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Operation } from './operation.js';
import type { OperationId } from './table.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** undefined for a path or a method that no operation has. */
    operation: Operation | undefined;
    operationId: OperationId | undefined;
  }
}

/** Adds the members `operation` and `operationId` to requests. */
export function decorateOperation(app: FastifyInstance): void {
  app.decorateRequest('operation', undefined);
  app.decorateRequest('operationId', undefined);
}

/** Sets the operation of a request once, because Fastify makes an object each time that the options of a route are read. */
export function setOperation(request: FastifyRequest): void {
  const { operation, operationId } = request.routeOptions.config ?? {};
  request.operation = operation;
  request.operationId = operationId;
}
