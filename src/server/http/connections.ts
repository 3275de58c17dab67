import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import { setImmediate } from 'node:timers';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { overTurns } from '../../async/turns.js';
import { CosiftError } from '../../errors.js';
import { maxDescriptors } from '../../platform/platform.js';
import { closeUnread, stopReading } from './drain.js';
import { onClose } from './on-close.js';

/** Number of connections that are accepted in successive turns from which on accepting the next ones comes first. */
const MANY_AT_ONCE = 4;
/** Number of connections after which requests are handled nevertheless. */
const MAX_ACCEPTED_FIRST = 1024;

/** Once the server stops: how long a connection without a request stays open. */
const IDLE_STOP_MS = 500;

/** Maximum number of concurrent requests of one connection. After a further one, nothing more is read from it. */
const MAX_PIPELINED = 32;

export interface ConnectionLimits {
  /**
   * Maximum number of open connections; further ones are closed on arrival. Connections take at most half of the file
   * descriptors of the process, because the databases need some, too.
   */
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

interface Connections {
  open: Map<Socket, Connection>;
  /** The requests beyond the limit of their connection. */
  excess: WeakSet<IncomingMessage>;
  /** Once the server stops, a connection is closed after its response. */
  stopping: boolean;
}

/**
 * Limits the number of connections and of concurrent requests on each, closes connections whose client does not read its
 * response, and closes all connections when the server stops, because Node would wait for the clients to disconnect.
 */
export function limitConnections(
  app: FastifyInstance,
  { maxConnections, sendMs, stopMs }: ConnectionLimits,
): void {
  app.server.maxConnections = Math.min(maxConnections, Math.max(1, Math.floor(maxDescriptors() / 2)));
  const connections = trackConnections(app.server);
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    if (!connections.excess.has(raw)) return done();
    const detail = `${MAX_PIPELINED} requests of this connection are under way; wait for their responses`;
    return done(new CosiftError('busy', detail, { fields: { retry_after: 1 } }));
  });
  const stalled = setInterval(() => closeStalled(connections, sendMs), sendMs / 4).unref();
  app.addHook('onClose', async () => clearInterval(stalled));
  app.addHook('preClose', () => closeUnused(app.server, connections, stopMs));
}

function trackConnections(server: Server): Connections {
  const connections: Connections = { open: new Map(), excess: new WeakSet(), stopping: false };
  const { open, excess } = connections;
  server.on('connection', (socket: Socket) => {
    open.set(socket, { requests: new Set(), sent: 0, since: performance.now() });
    socket.once('close', () => open.delete(socket));
  });
  // Prepended, because Fastify's listener runs the hooks, and the hook of `limitConnections` reads `excess`.
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const requests = open.get(socket)?.requests;
    requests?.add(request);
    if (requests !== undefined && requests.size > MAX_PIPELINED) {
      excess.add(request);
      stopReading(socket);
    }
    onClose({ raw: request }, { raw: response }, () => {
      requests?.delete(request);
      if (excess.has(request)) return closeUnread(socket);
      // The socket is destroyed if the connection has closed before the response.
      if (!connections.stopping || socket.destroyed) return;
      // Destroying the socket while the client still sends would reset the connection, and the client would lose the response.
      if (request.complete) socket.destroySoon();
      else socket.end();
    });
  });
  return connections;
}

/** The paths that tell whether the service is alive and ready. */
const PROBES: ReadonlySet<string | undefined> = new Set(['/livez', '/readyz']);

/**
 * Lets the listeners of a server handle requests over several turns of the event loop, but probes at once: these are
 * answered before the requests that arrived with them. To be called before further listeners are added.
 */
export function startOverTurns(server: Server): void {
  const start = overTurns(64, manyArrive(server));
  type Listener = (request: IncomingMessage, response: ServerResponse) => void;
  for (const handle of server.listeners('request') as Listener[]) {
    server.off('request', handle);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      if (PROBES.has(request.url)) handle(request, response);
      else start(() => handle(request, response));
    });
  }
}

/**
 * Returns a function that says whether many connections are arriving at this moment. A turn of the event loop accepts one
 * connection, so that with the requests of the first ones in between, the last ones would wait for all of these.
 */
function manyArrive(server: Server): () => boolean {
  let accepted = 0;
  let acceptedInTurn = 0;
  const nextTurn = () => {
    if (acceptedInTurn > 0) setImmediate(nextTurn);
    else accepted = 0;
    acceptedInTurn = 0;
  };
  server.on('connection', () => {
    if (accepted === 0) setImmediate(nextTurn);
    accepted += 1;
    acceptedInTurn += 1;
  });
  return () => {
    if (accepted > MAX_ACCEPTED_FIRST) accepted = 1;
    return accepted > MANY_AT_ONCE;
  };
}

/** Closes the connections whose client has read nothing of a response for `sendMs`. */
function closeStalled({ open }: Connections, sendMs: number): void {
  const now = performance.now();
  for (const [socket, connection] of open) {
    const sent = socket.bytesWritten - socket.writableLength;
    if (socket.writableLength === 0 || sent !== connection.sent) {
      connection.sent = sent;
      connection.since = now;
    } else if (now - connection.since >= sendMs) {
      socket.destroy();
    }
  }
}

/**
 * Closes the connections of a server that stops: soon those without a request, and after `stopMs` those whose requests
 * have not arrived completely.
 */
async function closeUnused(server: Server, connections: Connections, stopMs: number): Promise<void> {
  connections.stopping = true;
  const close = (isUnused: (requests: IncomingMessage[]) => boolean) => {
    for (const [socket, { requests }] of connections.open) if (isUnused([...requests])) socket.destroy();
  };
  setTimeout(() => close((requests) => requests.every(({ complete }) => !complete)), stopMs).unref();
  await acceptWaiting(server, stopMs);
  setTimeout(() => close((requests) => requests.length === 0), IDLE_STOP_MS).unref();
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
    await endOfTurn();
    await endOfTurn();
  } while (accepted && performance.now() < end);
  server.off('connection', onConnection);
}
