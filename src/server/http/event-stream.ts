import type { FastifyRequest } from 'fastify';

/** Server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html */
export const EVENT_STREAM = 'text/event-stream';

const ACCEPTED = /(^|,)\s*text\/event-stream\s*(;|,|$)/i;

/** Whether the client asks for a stream of events. */
export function acceptsEvents({ headers }: FastifyRequest): boolean {
  return ACCEPTED.test(headers.accept ?? '');
}

/** An event. One without data is not shown to programs: it moves the place from which a client that reconnects goes on. */
export function eventOf(id: string, data?: object): string {
  return `id: ${id}\n${data === undefined ? '' : `data: ${JSON.stringify(data)}\n`}\n`;
}
