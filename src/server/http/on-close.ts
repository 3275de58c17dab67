import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { overTurns } from '../../async/turns.js';

/** The functions to call when a response or its connection closes. They are a member, because a `WeakMap` takes more time. */
const LISTENERS = Symbol('listeners');
/** The functions to call when a connection closes, one for each response. */
const CLOSERS = Symbol('closers');

/** Connections that close together are treated over several turns of the event loop. */
const closeOverTurns = overTurns(64);

type Response = ServerResponse & { [LISTENERS]?: (() => void)[] };
type Connection = Socket & { [CLOSERS]?: Set<() => void> };

/** The request and the response of Node, which Fastify calls `raw`. */
interface Raw<T> {
  readonly raw: T;
}

/**
 * Calls `listener` once, when the response or its connection has closed. The returned function removes the listener. Each
 * call is given a function of its own.
 *
 * The connection is watched, too, because Node does not close the response to a pipelined request if the connection ends
 * before the request's turn.
 */
export function onClose(
  request: Raw<IncomingMessage>,
  reply: Raw<ServerResponse>,
  listener: () => void,
): () => void {
  const { socket } = request.raw;
  const response: Response = reply.raw;
  if (response.closed || socket.closed) {
    queueMicrotask(listener);
    return () => undefined;
  }
  const listeners = response[LISTENERS] ?? watch(response, closersOf(socket));
  listeners.push(listener);
  return () => {
    const at = listeners.indexOf(listener);
    if (at !== -1) listeners.splice(at, 1);
  };
}

/** Makes the list of one response. The response has one listener for all, because adding a listener to a response takes time. */
function watch(response: Response, ofSocket: Set<() => void>): (() => void)[] {
  const created: (() => void)[] = [];
  response[LISTENERS] = created;
  const close = () => {
    ofSocket.delete(close);
    closeOverTurns(() => {
      for (let next = created.shift(); next !== undefined; next = created.shift()) next();
    });
  };
  response.on('close', close);
  ofSocket.add(close);
  return created;
}

/** The set of one socket. The socket has one listener for all, because a kept-alive connection has many requests. */
function closersOf(socket: Connection): Set<() => void> {
  const existing = socket[CLOSERS];
  if (existing !== undefined) return existing;
  const created = new Set<() => void>();
  socket[CLOSERS] = created;
  socket.once('close', () => {
    for (const close of created) close();
  });
  return created;
}
