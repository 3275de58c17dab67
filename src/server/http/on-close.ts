import type { FastifyReply, FastifyRequest } from 'fastify';

/** By socket: the functions to call when it closes. */
const listeners = new WeakMap<object, Set<() => void>>();

/**
 * Calls `listener` once, when the response or its connection has closed. The returned function removes the listener.
 *
 * The connection is watched, too, because Node does not close the response to a pipelined request if the connection ends
 * before the request's turn.
 */
export function onClose(request: FastifyRequest, reply: FastifyReply, listener: () => void): () => void {
  const { socket } = request.raw;
  const response = reply.raw;
  const ofSocket = listenersOf(socket);
  const remove = () => {
    response.off('close', onEvent);
    ofSocket.delete(onEvent);
  };
  const onEvent = () => {
    remove();
    listener();
  };
  if (response.closed || socket.closed) {
    queueMicrotask(listener);
    return () => undefined;
  }
  response.once('close', onEvent);
  ofSocket.add(onEvent);
  return remove;
}

/** The set of one socket. The socket has one listener for all, because a kept-alive connection has many requests. */
function listenersOf(socket: FastifyRequest['raw']['socket']): Set<() => void> {
  const existing = listeners.get(socket);
  if (existing !== undefined) return existing;
  const created = new Set<() => void>();
  listeners.set(socket, created);
  socket.once('close', () => {
    for (const listener of [...created]) listener();
  });
  return created;
}
