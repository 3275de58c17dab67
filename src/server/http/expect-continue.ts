import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';

/** The responses to the requests whose clients wait for "100 Continue" before they send the body. */
const WAITING = new WeakMap<Readable, ServerResponse>();

/**
 * Lets a request with `expect: 100-continue` be checked before its body is sent. By default, Node asks for the body at
 * once. A client that gets the final response instead need not send the body, and Node then closes the connection.
 */
export function expectContinue(app: FastifyInstance): void {
  app.server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    WAITING.set(request, response);
    app.server.emit('request', request, response);
  });
}

/** Whether the client of a request still waits to be asked for the body. */
export function awaitsContinue(body: Readable): boolean {
  return WAITING.has(body);
}

/** Asks the client for the body, if it waits for that. Called before the body is read. */
export function sendContinue(body: Readable): void {
  WAITING.get(body)?.writeContinue();
  WAITING.delete(body);
}
