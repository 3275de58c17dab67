import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** How long a caller who has connected may take to ask once the server stops. */
const ASK_MS = 500;

/**
 * Lets go of every connection once the server stops: soon where nothing is asked, after the answer where
 * something is, and after `stopMs` where a request does not arrive. Node would wait for the callers to hang up.
 */
export function releaseConnections(app: FastifyInstance, stopMs: number): void {
  const connections = new Map<Socket, Set<IncomingMessage>>();
  let stopping = false;

  app.server.on('connection', (socket: Socket) => {
    connections.set(socket, new Set());
    socket.once('close', () => connections.delete(socket));
  });
  app.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    connections.get(socket)?.add(request);
    response.once('close', () => {
      connections.get(socket)?.delete(request);
      if (!stopping) return;
      // Destroyed under a caller who still sends, the socket would take the answer with it.
      if (request.complete) socket.destroySoon();
      else socket.end();
    });
  });
  app.addHook('preClose', async () => {
    stopping = true;
    const release = (idle: (requests: IncomingMessage[]) => boolean) => () => {
      for (const [socket, requests] of connections) if (idle([...requests])) socket.destroy();
    };
    setTimeout(
      release((requests) => requests.length === 0),
      ASK_MS,
    ).unref();
    setTimeout(
      release((requests) => requests.every(({ complete }) => !complete)),
      stopMs,
    ).unref();
  });
}
