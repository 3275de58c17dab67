import { setMaxListeners } from 'node:events';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { CosiftError } from '../../errors.js';
import { onClose } from '../http/on-close.js';
import type { Operation } from '../operations/operation.js';
import { keyOf } from './access.js';
import { CapacityLimiter } from './capacity-limiter.js';
import { RequestResources } from './request-resources.js';

export type Kind = NonNullable<Operation['kind']> | 'streams';

/** Requests of each kind that are under way at once; more are refused with `busy`. */
export type Capacity = Record<Kind, number>;

/** Bytes that requests hold at once. */
export interface ByteCapacity {
  /** Of request bodies, until their requests are done. */
  bodies: { total: number; perKey: number };
  /** Of responses, until they are sent. */
  unsent: { total: number; perKey: number };
}

const KINDS: Record<Kind, string> = {
  searches: 'searches under way',
  reads: 'reads under way',
  writes: 'writes under way',
  streams: 'streams of records under way',
  waits: 'waits for changes under way',
};

/** Responses up to this size are not counted: a refusal must always be sent. */
const UNCOUNTED_BYTES = 1_024;

const LINES = /^\s*application\/x-ndjson\s*(;|$)/i;

/** What is under way: how much of it there may be, and how each call ends early. */
export class InFlight {
  readonly #limiters: Record<Kind, CapacityLimiter>;
  readonly #bodies: CapacityLimiter;
  readonly #unsent: CapacityLimiter;
  readonly #closing = new AbortController();

  constructor(capacity: Capacity, bytes: ByteCapacity) {
    // As many listen as calls are under way, which the limiters bound.
    setMaxListeners(0, this.#closing.signal);
    const limiter = (kind: Kind) =>
      new CapacityLimiter(KINDS[kind], { total: capacity[kind], perKey: shareOf(capacity[kind]) });
    this.#limiters = {
      searches: limiter('searches'),
      reads: limiter('reads'),
      writes: limiter('writes'),
      streams: limiter('streams'),
      waits: limiter('waits'),
    };
    this.#bodies = new CapacityLimiter('bytes of request bodies', bytes.bodies);
    this.#unsent = new CapacityLimiter('bytes of responses that are not sent yet', bytes.unsent);
  }

  /** Aborted once the server stops: what may take long ends early then. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Requests under way, by kind. */
  counts(): Record<Kind, number> {
    const { searches, reads, writes, streams, waits } = this.#limiters;
    return {
      searches: searches.held,
      reads: reads.held,
      writes: writes.held,
      streams: streams.held,
      waits: waits.held,
    };
  }

  /** Bytes of request bodies and of responses that are held. */
  bytes(): { bodies: number; unsent: number } {
    return { bodies: this.#bodies.held, unsent: this.#unsent.held };
  }

  /**
   * Takes room for `bytes` more of the body of a request, until the request is done.
   *
   * @throws {CosiftError} `busy`
   */
  takeBody(request: FastifyRequest, bytes: number): void {
    request.resources?.add(this.#bodies.take(keyOf(request), bytes));
  }

  /**
   * Does nothing where a response of so many bytes could wait to be sent to the caller.
   *
   * @throws {CosiftError} `busy`
   */
  checkUnsent(request: FastifyRequest, bytes: number): void {
    this.#unsent.check(keyOf(request), bytes);
  }

  guard(app: FastifyInstance): void {
    app.decorateRequest('resources', null);
    app.addHook('onRequest', async (request, reply) => {
      if (request.caller === null) return;
      // Before anything is changed: the response is then sent even where it exceeds the limit.
      if (isChange(request)) this.checkUnsent(request, 1);
      const kind = kindOf(request);
      const release = kind && this.#limiters[kind].take(keyOf(request));
      const resources = new RequestResources();
      if (release) resources.add(release);
      request.resources = resources;
      onClose(request, reply, () => resources.abandon());
    });
    app.addHook('preClose', async () => {
      this.#closing.abort(new CosiftError('not_ready', 'the server is stopping'));
    });
    app.addHook<unknown>('onSend', async (request, reply, payload) => {
      request.resources?.end();
      if (this.#closing.signal.aborted) reply.header('connection', 'close');
      const bytes = typeof payload === 'string' ? Buffer.byteLength(payload) : lengthOf(payload);
      if (bytes <= UNCOUNTED_BYTES) return;
      // A change that has happened cannot be refused any more.
      const held = isChange(request) ? 'add' : 'take';
      onClose(request, reply, this.#unsent[held](keyOf(request), bytes));
    });
  }
}

/** What one key may have of a capacity: never all of it, unless there is only one. */
function shareOf(capacity: number): number {
  return Math.max(1, Math.floor((capacity * 3) / 4));
}

function kindOf(request: FastifyRequest): Kind | undefined {
  const { operation } = request.routeOptions.config;
  if (operation?.lines !== undefined && LINES.test(request.headers['content-type'] ?? '')) return 'streams';
  return operation?.kind;
}

function isChange({ method, routeOptions }: FastifyRequest): boolean {
  return method !== 'GET' && routeOptions.config.operation?.kind !== 'searches';
}

function lengthOf(payload: unknown): number {
  return payload instanceof Uint8Array ? payload.byteLength : 0;
}
