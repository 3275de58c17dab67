import type { FastifyRequest } from 'fastify';
import { weightsOf } from './accept-encoding.js';

/** Server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html */
export const EVENT_STREAM = 'text/event-stream';

/** Whether the client asks for a stream of events rather than for JSON. */
export function acceptsEvents({ headers }: FastifyRequest): boolean {
  const weights = weightsOf(headers.accept ?? '');
  const weight = weights.get(EVENT_STREAM) ?? 0;
  return weight > 0 && weight >= (weights.get('application/json') ?? 0);
}

/** An event. One without data is not shown to programs: it moves the place from which a client that reconnects goes on. */
export function eventOf(id: string, data?: object): string {
  return `id: ${id}\n${data === undefined ? '' : `data: ${JSON.stringify(data)}\n`}\n`;
}
