import type { FastifyReply, FastifyRequest } from 'fastify';

/** By socket: what to call once it has closed. */
const listeners = new WeakMap<object, Set<() => void>>();

/**
 * Calls `listener` once, when the response has closed or its connection has. The function that it returns takes the
 * listener back.
 *
 * Node does not close the response to a pipelined request whose connection ends before its turn, so the connection
 * must be watched, too.
 */
export function onClose(request: FastifyRequest, reply: FastifyReply, listener: () => void): () => void {
  const { socket } = request.raw;
  const response = reply.raw;
  const ofSocket = listenersOf(socket);
  const forget = () => {
    response.off('close', ended);
    ofSocket.delete(ended);
  };
  const ended = () => {
    forget();
    listener();
  };
  if (response.closed || socket.closed) {
    queueMicrotask(listener);
    return () => undefined;
  }
  response.once('close', ended);
  ofSocket.add(ended);
  return forget;
}

/** One listener a socket: a connection that is kept alive carries any number of requests. */
function listenersOf(socket: FastifyRequest['raw']['socket']): Set<() => void> {
  const known = listeners.get(socket);
  if (known !== undefined) return known;
  const made = new Set<() => void>();
  listeners.set(socket, made);
  socket.once('close', () => {
    for (const ended of [...made]) ended();
  });
  return made;
}
