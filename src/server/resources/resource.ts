import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DatabaseService, Readiness, RecordForm } from '../../databases/index.js';
import type { ComponentName, Limits } from '../../schema/index.js';
import type { FollowedSyncs } from '../../sync/followed-syncs.js';
import type { HeldSyncs } from '../../sync/held-syncs.js';
import type { InFlight } from '../admission/in-flight.js';
import type { Inject } from '../http/own-requests.js';
import type { PageAccess } from '../http/page-origin.js';
import type { Timeouts } from '../http/timeouts.js';
import type { KeyStore } from '../keys/key-store.js';
import type { Metrics } from '../observability/metrics.js';
import type { HttpApi } from '../openapi/document.js';
import type { Operation } from '../operation.js';
import type { Webhooks } from '../webhooks/webhooks.js';

/** What handlers need. */
export interface Dependencies {
  databases: DatabaseService;
  readiness: () => Readiness;
  keys: KeyStore;
  webhooks: Webhooks;
  syncs: FollowedSyncs;
  held: HeldSyncs;
  limits: Limits;
  timeouts: Timeouts;
  inFlight: InFlight;
  metrics: Metrics;
  /** What the documents of the service describe. */
  api: HttpApi;
  /** Whether the page is served. */
  page: boolean;
  mcp: {
    inject: Inject;
    pages: PageAccess;
    /** Whether there are tools that write. */
    allowsWrites: boolean;
  };
}

export type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** How the caller of an operation writes and sees records. */
export interface Representation {
  /** The ids and the names of times in the response. */
  form: RecordForm;
  /** The media type of the response. */
  type: string;
  /** Checks the body, or a part of it by the schema of this name. */
  check(value: unknown, schema?: ComponentName): void;
}

/** An operation as a service has it. */
export interface Served<Schema extends string = string> extends Operation<Schema> {
  /** Returns the handler for one server. */
  handler(dependencies: Dependencies): Handler;
}

/** An operation with its handler, for any representation of records. */
export interface Declared extends Operation<ComponentName> {
  handler(
    dependencies: Dependencies,
  ): (request: FastifyRequest, reply: FastifyReply, records: Representation) => Promise<unknown>;
}

export type Resource = Readonly<Record<string, Declared>>;
