import { setMaxListeners } from 'node:events';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CosiftError } from '../errors.js';
import { Gate } from './gate.js';
import type { Operation } from './operations.js';

type GateName = NonNullable<Operation['gate']>;

export interface Capacity {
  /** Calls under way at once; more are refused with `busy`. */
  searches: number;
  writes: number;
  waits: number;
}

/** What is under way: how much of it there may be, and how each call ends early. */
export class InFlight {
  readonly #gates: Record<GateName, Gate>;
  readonly #closing = new AbortController();

  constructor(capacity: Capacity) {
    // As many listen as calls are under way, which the gates bound.
    setMaxListeners(0, this.#closing.signal);
    this.#gates = {
      searches: new Gate('searches', capacity.searches),
      writes: new Gate('writes', capacity.writes),
      waits: new Gate('waits for changes', capacity.waits),
    };
  }

  /** Aborted once the server stops: what may take long ends early then. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  counts(): Record<GateName, number> {
    const { searches, writes, waits } = this.#gates;
    return { searches: searches.inside, writes: writes.inside, waits: waits.inside };
  }

  guard(app: FastifyInstance): void {
    app.addHook('onRequest', async (request, reply) => {
      const name = request.routeOptions.config.operation?.gate;
      if (name === undefined) return;
      const gate = this.#gates[name];
      gate.enter();
      // Closes after every answer and after every way in which there is none.
      reply.raw.once('close', () => gate.leave());
    });
    app.addHook('preClose', async () => {
      this.#closing.abort(new CosiftError('not_ready', 'the server is stopping'));
    });
    app.addHook('onSend', async (_request, reply) => {
      if (this.#closing.signal.aborted) reply.header('connection', 'close');
    });
  }
}

/**
 * Runs `call` with a signal that is aborted when the caller goes away or after `timeoutMs`, and then
 * throws `stopped` or `timed_out`.
 */
export async function untilGone<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  timeoutMs: number,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const { signal } = controller;
  const gone = () => {
    if (!reply.raw.writableFinished) controller.abort(new CosiftError('stopped', 'the caller went away'));
  };
  const late = () => controller.abort(new CosiftError('timed_out', `took longer than ${timeoutMs} ms`));
  const timer = setTimeout(late, timeoutMs);
  reply.raw.once('close', gone);
  if (request.raw.destroyed && reply.raw.destroyed) gone();
  try {
    return await call(signal);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    clearTimeout(timer);
    reply.raw.off('close', gone);
  }
}
