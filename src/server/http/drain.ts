import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** How much of a body is read after the response to its request. */
export interface DrainLimits {
  /** Bytes of the connection. */
  maxBytes: number;
  maxMs: number;
}

/** A caller without a key is not worth more work. */
export const UNKNOWN_CALLER: DrainLimits = { maxBytes: 100_000, maxMs: 1_000 };

/** How often the progress is looked at, in milliseconds: the parser of Node drops the bytes without a call. */
const CHECK_MS = 25;
/** How long a client may still read the response once nothing of its body is read, in milliseconds. */
const LINGER_MS = 1_000;

/**
 * Lets the rest of a body be read and dropped, because closing the connection would reset it, and a client that still
 * sends would lose the response. Closes the connection when the rest is larger than it may be, or takes too long.
 */
export function drain(request: IncomingMessage, { maxBytes, maxMs }: DrainLimits): void {
  const { socket } = request;
  const lastByte = socket.bytesRead + maxBytes;
  const end = performance.now() + maxMs;
  const timer = setInterval(() => {
    const isLate = socket.bytesRead > lastByte || performance.now() > end;
    if (!request.complete && !socket.destroyed && !isLate) return;
    clearInterval(timer);
    if (!request.complete) closeUnread(socket);
  }, CHECK_MS).unref();
}

/** What {@link stopReading} knows of the parser of Node: its class says which members are its listeners. */
interface Parser {
  constructor: { kOnHeadersComplete?: number; kOnBody?: number };
  [member: number]: unknown;
}

/** The connections that are not read any more. */
const UNREAD = new WeakSet<Socket>();

/** Reads nothing more of a connection, not even the rest of the bytes that have arrived. */
export function stopReading(socket: Socket): void {
  if (UNREAD.has(socket)) return;
  UNREAD.add(socket);
  // With a listener of its own, the socket is no longer read by the parser of Node, also when Node resumes it.
  socket.removeAllListeners('data');
  socket.on('data', () => undefined).pause();
  // Node has no public function that stops its parser in the midst of the bytes that were read, at most 64 kB. Without
  // listeners, the parser takes nanoseconds for each part of them. A parser with other members keeps its listeners: the
  // requests in these bytes are then refused one by one.
  const { parser } = socket as { parser?: Parser | null };
  if (!parser) return;
  const { kOnHeadersComplete, kOnBody } = parser.constructor;
  const listeners = [kOnHeadersComplete, kOnBody]
    .filter((at) => at !== undefined)
    .map((at) => [at, parser[at]] as const);
  for (const [at] of listeners) parser[at] = undefined;
  // The parser needs them for its next connection.
  setImmediate(() => {
    for (const [at, listener] of listeners) parser[at] = listener;
  });
}

/** Reads nothing more, ends what is sent, and closes the connection when the client has had time to read it. */
export function closeUnread(socket: Socket): void {
  stopReading(socket);
  socket.end();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
