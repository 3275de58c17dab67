import { setMaxListeners } from 'node:events';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { CosiftError } from '../../errors.js';
import { onClose } from '../http/on-close.js';
import { type Operation, requestsIn } from '../operation.js';
import { payerOf } from './access.js';
import { CapacityLimiter } from './capacity-limiter.js';
import { RequestResources } from './request-resources.js';

export type RequestKind = NonNullable<Operation['kind']> | 'streams';

/** Maximum number of concurrent requests of each kind; further ones are refused with `busy`. */
export type Capacity = Record<RequestKind, number>;

/** Maximum number of bytes that requests hold. */
export interface ByteCapacity {
  /** Of request bodies, until their requests are done. */
  bodies: { total: number; perKey: number };
  /** Of responses, until they are sent. */
  unsent: { total: number; perKey: number };
}

const KINDS: Record<RequestKind, string> = {
  searches: 'searches under way',
  reads: 'reads under way',
  writes: 'writes under way',
  streams: 'streams of records under way',
  waits: 'waits for changes under way',
  exports: 'exports under way',
};

function ofEach<T>(make: (kind: RequestKind) => T): Record<RequestKind, T> {
  const kinds = Object.keys(KINDS) as RequestKind[];
  return Object.fromEntries(kinds.map((kind) => [kind, make(kind)])) as Record<RequestKind, T>;
}

/** Responses of at most this size are not counted, because an error response must always be possible. */
const UNCOUNTED_BYTES = 1_024;

const NDJSON = /^\s*application\/x-ndjson\s*(;|$)/i;

/** Counts the requests in flight and the bytes they hold, refuses those beyond the limits, and ends them at a stop. */
export class InFlight {
  readonly #limiters: Record<RequestKind, CapacityLimiter>;
  readonly #bodies: CapacityLimiter;
  readonly #unsent: CapacityLimiter;
  readonly #closing = new AbortController();

  constructor(capacity: Capacity, bytes: ByteCapacity) {
    // One listener for each request in flight. The limiters bound their number.
    setMaxListeners(0, this.#closing.signal);
    this.#limiters = ofEach(
      (kind) => new CapacityLimiter(KINDS[kind], { total: capacity[kind], perKey: shareOf(capacity[kind]) }),
    );
    // A part of the share would not have room for the largest body.
    this.#bodies = new CapacityLimiter('bytes of request bodies', bytes.bodies, 1);
    this.#unsent = new CapacityLimiter('bytes of responses that are not sent yet', bytes.unsent);
  }

  /** Aborted when the server stops, so that long requests end early. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  counts(): Record<RequestKind, number> {
    return ofEach((kind) => this.#limiters[kind].held);
  }

  bytes(): { bodies: number; unsent: number } {
    return { bodies: this.#bodies.held, unsent: this.#unsent.held };
  }

  /**
   * Reserves `bytes` more bytes for the body of a request, until the request is done.
   *
   * @throws {CosiftError} `busy` when a limit is reached.
   */
  reserveBody(request: FastifyRequest, bytes: number): void {
    request.resources?.add(this.#bodies.take(payerOf(request), bytes));
  }

  /**
   * Checks that a response of `bytes` bytes would be within the limits of unsent bytes. It reserves nothing.
   *
   * @throws {CosiftError} `busy` when it would not.
   */
  checkUnsent(request: FastifyRequest, bytes: number): void {
    this.#unsent.check(payerOf(request), bytes);
  }

  /** Installs the hooks that count requests and responses. */
  guard(app: FastifyInstance): void {
    app.decorateRequest('resources', null);
    app.addHook('onRequest', (request, reply, done) => {
      if (request.caller === null) return done();
      // Checked before the change, because the response to a completed change is sent even beyond the limit.
      if (isChange(request)) this.checkUnsent(request, 1);
      const kind = kindOf(request);
      const limiter = kind && this.#limiters[kind];
      const path = payerOf(request);
      // A body that does not arrive must not hold a place. Its bytes are limited.
      limiter?.check(path, 1);
      const resources = new RequestResources(limiter && (() => limiter.takeParts(path, requestsIn(request))));
      request.resources = resources;
      onClose(request, reply, () => resources.abandon());
      return done();
    });
    app.addHook('preClose', async () => {
      this.#closing.abort(new CosiftError('not_ready', 'the server is stopping'));
    });
    app.addHook<unknown>('onSend', (request, reply, payload, done) => {
      request.resources?.end();
      if (this.#closing.signal.aborted) reply.header('connection', 'close');
      const bytes = typeof payload === 'string' ? Buffer.byteLength(payload) : lengthOf(payload);
      if (bytes <= UNCOUNTED_BYTES) return done(null, payload);
      // A completed change can no longer be refused.
      const reserve = isChange(request) ? 'add' : 'take';
      onClose(request, reply, this.#unsent[reserve](payerOf(request), bytes));
      return done(null, payload);
    });
  }
}

/** The part of a capacity that one key may use: three quarters, but at least 1. */
function shareOf(capacity: number): number {
  return Math.max(1, Math.floor((capacity * 3) / 4));
}

function kindOf(request: FastifyRequest): RequestKind | undefined {
  const { operation, headers } = request;
  if (operation?.lines !== undefined && NDJSON.test(headers['content-type'] ?? '')) return 'streams';
  return operation?.kind;
}

function isChange({ method, operation }: FastifyRequest): boolean {
  return !['GET', 'HEAD'].includes(method) && operation?.kind !== 'searches';
}

function lengthOf(payload: unknown): number {
  return payload instanceof Uint8Array ? payload.byteLength : 0;
}
