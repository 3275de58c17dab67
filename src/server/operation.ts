import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ErrorCode } from '../errors.js';
import type { Action } from '../schema/index.js';
import type { Parameters } from './http/query-parameters.js';

export interface Success<Schema extends string = string> {
  status: number;
  description: string;
  /** The body is JSON of this schema unless `type` says otherwise. Without schema and type, the body is empty. */
  schema?: Schema;
  type?: string;
}

/** One method of one path: what its route enforces and what the OpenAPI document says. */
export interface Operation<Schema extends string = string> {
  method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  tag: 'Search' | 'Records' | 'Databases' | 'Keys' | 'Agents' | 'Service';
  summary: string;
  description?: string;
  /** The key must have one of these actions; absent: any valid key. */
  actions?: readonly Action[];
  /** Also answers while the store cannot be reached, to the keys that the service read last. */
  answersWithoutStore?: true;
  /** Needs no key. */
  open?: true;
  /** Responds with a secret that nothing else shows. */
  showsSecret?: true;
  /** Responds with an entity tag, and with status 304 to a request that has it. */
  tagged?: true;
  /** The id in the path is that of a new database, never an alias. */
  createsDatabase?: true;
  /** The body is JSON of this schema. A `Batch` and a `RecordPatch` are parsed by the engine. */
  body?: Schema;
  /** An absent body is an empty object. */
  bodyOptional?: true;
  /** The body has several searches, in the member `searches`. */
  isBatch?: true;
  /** The member of the body that may be a list of up to `max` items, which each count as a request. */
  counted?: { member: 'searches' | 'input'; max: number };
  /** The body is NDJSON with an instance of this schema per line, or JSON of `body`. */
  lines?: Schema;
  /** The body may also have the media type `application/merge-patch+json`. */
  mergePatch?: true;
  query?: Parameters;
  success: readonly Success<Schema>[];
  /** Errors in addition to those that {@link errorsOf} adds. */
  errors?: readonly ErrorCode[];
  /** The number of concurrent requests of each kind is limited. */
  kind?: 'searches' | 'reads' | 'writes' | 'waits' | 'exports';
}

/** Errors of an operation that embeds texts. */
export const MODEL_ERRORS = ['model_mismatch', 'model_unavailable', 'not_installed'] as const;

/** Errors of an operation that writes to the store. */
export const WRITE_ERRORS = ['store_failed', 'disk_full'] as const;

/** Every error code that an operation can respond with. */
export function errorsOf(operation: Operation): ErrorCode[] {
  // `invalid_request`: a query parameter is unknown or repeated.
  const codes = new Set<ErrorCode>([...(operation.errors ?? []), 'invalid_request']);
  if (!operation.open) {
    // `damaged`: the key file cannot be read.
    codes.add('unauthorized').add('rate_limited').add('not_ready').add('damaged');
    if (operation.actions) codes.add('forbidden');
  }
  if (operation.path.includes('/{id}')) codes.add('database_not_found');
  if (operation.body) codes.add('invalid_json').add('too_large');
  if (operation.body || operation.lines) codes.add('unsupported_media_type').add('request_timeout');
  if (operation.kind) codes.add('busy').add('timed_out');
  return [...codes.add('internal')];
}

/** How many requests a request counts as, once its body was read. */
export function requestsIn({ operation, body }: FastifyRequest): number {
  const counted = operation?.counted;
  const items = counted && (body as Partial<Record<string, unknown>> | null | undefined)?.[counted.member];
  return counted && Array.isArray(items) ? Math.max(1, Math.min(items.length, counted.max)) : 1;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** undefined for a path or a method that no operation has. */
    operation: Operation | undefined;
    operationId: string | undefined;
  }
  interface FastifyContextConfig {
    operation?: Operation;
    operationId?: string;
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
