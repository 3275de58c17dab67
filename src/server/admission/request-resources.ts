import type { FastifyReply, FastifyRequest } from 'fastify';
import { CosiftError } from '../../errors.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** null for operations that need no key. */
    resources: RequestResources | null;
  }
}

/** What a request has acquired from limiters. All of it is released once, when no work for the request is left. */
export class RequestResources {
  readonly #releases: (() => void)[] = [];
  /** One for the request itself, and one for each {@link hold}. */
  #holders = 1;
  readonly #takePlace: (() => () => void) | undefined;
  #place: (() => void) | undefined;
  #running = false;
  #ended = false;

  /**
   * `takePlace` takes the place of the request among those of its kind, and returns the function that gives it up. It throws
   * when there is none.
   */
  constructor(takePlace: (() => () => void) | undefined) {
    this.#takePlace = takePlace;
  }

  /** Calls `release` together with the others; at once if they have already been called. */
  add(release: () => void): void {
    if (this.#holders === 0) release();
    else this.#releases.push(release);
  }

  /** Gives up the place before the other resources. */
  yieldPlace(): void {
    this.#place?.();
  }

  /** Keeps the resources until the returned function is called. */
  hold(): () => void {
    this.#holders += 1;
    let held = true;
    return () => {
      if (held) this.#leave();
      held = false;
    };
  }

  /** Takes the place of the request, and runs its handler. */
  async run<T>(handler: () => Promise<T>): Promise<T> {
    if (this.#ended) throw new CosiftError('stopped', 'the caller went away');
    this.#place = this.#takePlace?.();
    if (this.#place !== undefined) this.add(this.#place);
    this.#running = true;
    try {
      return await handler();
    } finally {
      this.end();
    }
  }

  /** Ends the request because its caller has disconnected, unless its handler runs. */
  abandon(): void {
    if (!this.#running) this.end();
  }

  /** Ends the request, whose result is known. Holders may still keep the resources. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#leave();
  }

  #leave(): void {
    this.#holders -= 1;
    if (this.#holders > 0) return;
    for (const release of this.#releases.splice(0)) release();
  }
}

type Handler<T> = (request: FastifyRequest, reply: FastifyReply) => Promise<T>;

/** Wraps `handler` so that its request keeps its resources until the handler is done. */
export function holdingResources<T>(handler: Handler<T>): Handler<T> {
  return (request, reply) =>
    request.resources === null
      ? handler(request, reply)
      : request.resources.run(() => handler(request, reply));
}
