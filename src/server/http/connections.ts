import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { CosiftError } from '../../errors.js';

/** How long a caller who has connected may take to ask once the server stops. */
const ASK_MS = 500;

/** Requests of one connection that are under way at once. */
const MAX_PIPELINED = 32;

export interface ConnectionLimits {
  /** Open at once; one more is closed at once. */
  maxConnections: number;
  /** How long a caller may take nothing of what is written. */
  sendMs: number;
  /** For the rest of a request to arrive once the server stops. */
  stopMs: number;
}

interface Connection {
  requests: Set<IncomingMessage>;
  /** Bytes that the caller had taken at `since`. */
  sent: number;
  since: number;
}

/**
 * Keeps connections from being held: limits how many there are and how many requests each has under way, cuts off
 * callers who do not take their responses, and ends all of them when the server stops, as Node would wait for the
 * callers to hang up.
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
  // Before Fastify's own listener, which runs the hooks.
  app.server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const requests = connections.get(socket)?.requests;
    requests?.add(request);
    if (requests !== undefined && requests.size > MAX_PIPELINED) excess.add(request);
    response.once('close', () => {
      requests?.delete(request);
      if (!stopping) return;
      // Destroying the socket while the caller still sends would reset the connection and lose the response.
      if (request.complete) socket.destroySoon();
      else socket.end();
    });
  });
  app.addHook('onRequest', async ({ raw }) => {
    if (!excess.has(raw)) return;
    const detail = `${MAX_PIPELINED} requests of this connection are under way; wait for their responses`;
    throw new CosiftError('busy', detail, { fields: { retry_after: 1 } });
  });

  const cutStalled = setInterval(() => {
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
  app.addHook('onClose', async () => clearInterval(cutStalled));

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
      ASK_MS,
    ).unref();
  });
}

/**
 * Accepts the connections that the system holds for the server. The system resets those that are not accepted when the
 * server stops listening, and a busy server accepts connections later than its callers send requests.
 */
async function acceptWaiting(server: Server, maxMs: number): Promise<void> {
  const end = performance.now() + maxMs;
  let accepted = false;
  const note = () => {
    accepted = true;
  };
  server.on('connection', note);
  do {
    accepted = false;
    // Between the first and the second, the event loop looks at all sockets.
    await setImmediate();
    await setImmediate();
  } while (accepted && performance.now() < end);
  server.off('connection', note);
}
