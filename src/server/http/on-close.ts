import type { FastifyReply, FastifyRequest } from 'fastify';

/** By response: the functions to call when it or its connection closes. */
const listenersOfResponse = new WeakMap<object, Set<() => void>>();
/** By socket: the functions to call when it closes, one for each response. */
const closersOfSocket = new WeakMap<object, Set<() => void>>();

/**
 * Calls `listener` once, when the response or its connection has closed. The returned function removes the listener. Each
 * call is given a function of its own.
 *
 * The connection is watched, too, because Node does not close the response to a pipelined request if the connection ends
 * before the request's turn.
 */
export function onClose(request: FastifyRequest, reply: FastifyReply, listener: () => void): () => void {
  const { socket } = request.raw;
  const response = reply.raw;
  if (response.closed || socket.closed) {
    queueMicrotask(listener);
    return () => undefined;
  }
  const listeners = listenersOfResponse.get(response) ?? watch(response, closersOf(socket));
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Makes the set of one response. The response has one listener for all, because adding a listener to a response takes time. */
function watch(response: FastifyReply['raw'], ofSocket: Set<() => void>): Set<() => void> {
  const created = new Set<() => void>();
  listenersOfResponse.set(response, created);
  const close = () => {
    ofSocket.delete(close);
    for (const listener of created) {
      created.delete(listener);
      listener();
    }
  };
  response.on('close', close);
  ofSocket.add(close);
  return created;
}

/** The set of one socket. The socket has one listener for all, because a kept-alive connection has many requests. */
function closersOf(socket: FastifyRequest['raw']['socket']): Set<() => void> {
  const existing = closersOfSocket.get(socket);
  if (existing !== undefined) return existing;
  const created = new Set<() => void>();
  closersOfSocket.set(socket, created);
  socket.once('close', () => {
    for (const close of created) close();
  });
  return created;
}
