import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { CosiftError } from '../../errors.js';
import { closeUnread, stopReading } from './drain.js';

/** Chunks of a body that may be of any size. */
const FREE_CHUNKS = 256;
/** The bytes that further chunks need on average. One more chunk of any size is allowed per millisecond. */
const MIN_AVERAGE_BYTES = 32;

/** Why bodies were refused while they arrived. */
const REFUSALS = new WeakMap<Readable, CosiftError>();

/**
 * Refuses bodies in many small chunks: the parser of Node takes microseconds for each chunk, however small it is, and
 * everybody waits meanwhile. Nothing more is read from the connection.
 */
export function refuseSmallChunks(app: FastifyInstance): void {
  // Prepended, because Fastify's listener reads the body.
  app.server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.headers['transfer-encoding'] !== undefined) countChunks(request, response);
  });
}

/** The reason why a body was refused while it arrived. */
export function refusalOf(body: Readable): CosiftError | undefined {
  return REFUSALS.get(body);
}

function countChunks(request: IncomingMessage, response: ServerResponse): void {
  const began = performance.now();
  let bytes = 0;
  let chunks = 0;
  const push = request.push;
  request.push = (chunk: Buffer | null) => {
    if (chunk === null) return push.call(request, chunk);
    if (REFUSALS.has(request)) return false;
    bytes += chunk.length;
    chunks += 1;
    const excess = chunks - FREE_CHUNKS - bytes / MIN_AVERAGE_BYTES;
    if (excess <= 0 || excess <= performance.now() - began) return push.call(request, chunk);
    refuse(request, response);
    return false;
  };
  // Node drops the chunks of a body that nobody has read from by the end of the response, and then does not push them.
  response.prependListener('finish', () => {
    if (!request.complete) request.read(0);
  });
}

function refuse(request: IncomingMessage, response: ServerResponse): void {
  const detail = `the chunks of the body are too small; send at least ${MIN_AVERAGE_BYTES} bytes in each`;
  const error = new CosiftError('invalid_request', detail);
  REFUSALS.set(request, error);
  const { socket } = request;
  stopReading(socket);
  if (response.writableFinished) closeUnread(socket);
  else request.on('error', () => undefined).emit('error', error);
}
