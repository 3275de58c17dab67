import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { CosiftError } from '../../errors.js';

/** Once the server stops: how long a connection without a request stays open. */
const IDLE_STOP_MS = 500;

/** Maximum number of concurrent requests of one connection. */
const MAX_PIPELINED = 32;

export interface ConnectionLimits {
  /** Maximum number of open connections; further ones are closed on arrival. */
  maxConnections: number;
  /** How long a client may read nothing while a response is being written. */
  sendMs: number;
  /** Once the server stops: how long the rest of a request may take to arrive. */
  stopMs: number;
}

interface Connection {
  requests: Set<IncomingMessage>;
  /** Bytes that had been sent at `since`. */
  sent: number;
  since: number;
}

/**
 * Limits the number of connections and of concurrent requests on each, closes connections whose client does not read its
 * response, and closes all connections when the server stops, because Node would wait for the clients to disconnect.
 */
export function limitConnections(
  app: FastifyInstance,
  { maxConnections, sendMs, stopMs }: ConnectionLimits,
): void {
  const connections = new Map<Socket, Connection>();
  const excess = new WeakSet<IncomingMessage>();
  let stopping = false;
  app.server.maxConnections = maxConnections;

  app.server.on('connection', (socket: Socket) => {
    connections.set(socket, { requests: new Set(), sent: 0, since: performance.now() });
    socket.once('close', () => connections.delete(socket));
  });
  // Prepended, because Fastify's listener runs the hooks, and the hook below reads `excess`.
  app.server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const requests = connections.get(socket)?.requests;
    requests?.add(request);
    if (requests !== undefined && requests.size > MAX_PIPELINED) excess.add(request);
    response.once('close', () => {
      requests?.delete(request);
      if (!stopping) return;
      // Destroying the socket while the client still sends would reset the connection, and the client would lose the response.
      if (request.complete) socket.destroySoon();
      else socket.end();
    });
  });
  app.addHook('onRequest', async ({ raw }) => {
    if (!excess.has(raw)) return;
    const detail = `${MAX_PIPELINED} requests of this connection are under way; wait for their responses`;
    throw new CosiftError('busy', detail, { fields: { retry_after: 1 } });
  });

  const closeStalled = setInterval(() => {
    const now = performance.now();
    for (const [socket, connection] of connections) {
      const sent = socket.bytesWritten - socket.writableLength;
      if (socket.writableLength === 0 || sent !== connection.sent) {
        connection.sent = sent;
        connection.since = now;
      } else if (now - connection.since >= sendMs) {
        socket.destroy();
      }
    }
  }, sendMs / 4).unref();
  app.addHook('onClose', async () => clearInterval(closeStalled));

  app.addHook('preClose', async () => {
    stopping = true;
    const release = (idle: (requests: IncomingMessage[]) => boolean) => () => {
      for (const [socket, { requests }] of connections) if (idle([...requests])) socket.destroy();
    };
    setTimeout(
      release((requests) => requests.every(({ complete }) => !complete)),
      stopMs,
    ).unref();
    await acceptWaiting(app.server, stopMs);
    setTimeout(
      release((requests) => requests.length === 0),
      IDLE_STOP_MS,
    ).unref();
  });
}

/**
 * Accepts the connections that wait in the backlog of the listening socket. The system resets connections that are not
 * yet accepted when the server stops listening, and their clients may already have sent requests.
 */
async function acceptWaiting(server: Server, maxMs: number): Promise<void> {
  const end = performance.now() + maxMs;
  let accepted = false;
  const onConnection = () => {
    accepted = true;
  };
  server.on('connection', onConnection);
  do {
    accepted = false;
    // The event loop polls all sockets between the first and the second.
    await setImmediate();
    await setImmediate();
  } while (accepted && performance.now() < end);
  server.off('connection', onConnection);
}
