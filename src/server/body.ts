import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { CosiftError } from '../errors.js';
import { jsonDepth, type Limits } from '../schema/index.js';
import { Turns } from '../turns.js';
import { keyOf } from './access.js';
import type { InFlight } from './in-flight.js';
import { parseStrictJson } from './strict-json.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Bytes of a JSON body. */
    bodyBytes: number;
  }
}

/**
 * How bodies are read: JSON strictly, within its limits and its time; a batch of records stays a buffer
 * for the engine's own parser; NDJSON stays a stream.
 */
export function readBodies(
  app: FastifyInstance,
  inFlight: InFlight,
  limits: Limits,
  bodyTimeoutMs: number,
): void {
  const depth = jsonDepth(limits);
  // Large bodies are parsed and checked one after the other, so that other requests are served in between.
  const parsing = new Turns({ total: 1, perCaller: 1 });
  app.decorateRequest('bodyBytes', 0);
  app.removeAllContentTypeParsers();
  app.addHook('onResponse', async ({ raw }) => {
    if (raw.complete) return;
    const cut = setTimeout(() => raw.complete || raw.destroy(), bodyTimeoutMs).unref();
    raw.once('close', () => clearTimeout(cut));
  });
  app.addContentTypeParser('application/json', async (request: FastifyRequest, payload: Readable) => {
    checkCoding(request);
    const { operation } = request.routeOptions.config;
    const batch = operation?.body === 'Batch';
    const most = batch ? limits.batch_bytes : limits.body_bytes;
    const declared = Number(request.headers['content-length'] ?? 0);
    if (declared > most) throw tooLarge(most);
    const room = new Room(most, (bytes) => inFlight.takeBody(request, bytes));
    if (declared > 0) room.grow(declared);
    const body = await collect(payload, room, bodyTimeoutMs);
    if (body.length === 0 && (operation?.body === undefined || operation.bodyOptional)) return undefined;
    if (batch) return body;
    request.bodyBytes = body.length;
    if (body.length < LARGE_BYTES) return parseStrictJson(body, depth);
    return parsing.run(keyOf(request), async () => {
      await setImmediate();
      return parseStrictJson(body, depth);
    });
  });
  app.addContentTypeParser('application/x-ndjson', async (request: FastifyRequest, payload: unknown) => {
    checkCoding(request);
    if (request.routeOptions.config.operation?.lines === undefined) {
      throw new CosiftError('unsupported_media_type', 'send the body as application/json');
    }
    return payload;
  });
}

/** A body from this size on takes milliseconds to parse and check. */
const LARGE_BYTES = 65_536;

/** A body whose length is not declared starts with this much room. */
const MIN_ROOM = 16_384;

function checkCoding(request: FastifyRequest): void {
  const coding = request.headers['content-encoding']?.toLowerCase() ?? 'identity';
  if (coding !== 'identity') {
    throw new CosiftError('unsupported_media_type', 'send the body without content-encoding');
  }
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(request.headers['content-type'] ?? '')?.[1];
  if (charset !== undefined && charset.toLowerCase() !== 'utf-8' && charset.toLowerCase() !== 'utf8') {
    throw new CosiftError('unsupported_media_type', 'the charset must be utf-8');
  }
}

/** The bytes of a body that has arrived so far. Room for them is taken before they are kept. */
class Room {
  readonly #most: number;
  readonly #take: (bytes: number) => void;
  #buffer = Buffer.alloc(0);
  #length = 0;

  /** `take` throws when there is no room for so many bytes more. */
  constructor(most: number, take: (bytes: number) => void) {
    this.#most = most;
    this.#take = take;
  }

  grow(size: number): void {
    this.#take(size - this.#buffer.length);
    const larger = Buffer.allocUnsafeSlow(size);
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }

  add(chunk: Buffer): void {
    const length = this.#length + chunk.length;
    if (length > this.#most) throw tooLarge(this.#most);
    if (length > this.#buffer.length) this.grow(Math.min(this.#most, Math.max(2 * length, MIN_ROOM)));
    chunk.copy(this.#buffer, this.#length);
    this.#length = length;
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }
}

/** The whole body. The stream is not destroyed when it is refused, so that the response can still be sent. */
function collect(payload: Readable, room: Room, timeoutMs: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const settle = (error?: CosiftError) => {
      clearTimeout(timer);
      payload.off('data', take).off('end', settle).off('close', breakOff).off('error', breakOff);
      if (error === undefined) return resolve(room.bytes());
      // What still comes is let through unread; a broken stream must not bring the process down.
      payload.on('error', () => undefined).resume();
      return reject(error);
    };
    const take = (chunk: Buffer) => {
      try {
        room.add(chunk);
      } catch (error) {
        settle(error as CosiftError);
      }
    };
    // The caller went away or broke off; nobody reads this answer.
    const breakOff = () => settle(new CosiftError('stopped', 'the body ended early'));
    const late = () =>
      settle(new CosiftError('request_timeout', `the body did not arrive within ${timeoutMs} ms`));
    const timer = setTimeout(late, timeoutMs);
    payload.on('data', take).on('end', settle).on('close', breakOff).on('error', breakOff);
  });
}

function tooLarge(most: number): CosiftError {
  return new CosiftError('too_large', `the body is larger than ${most} bytes`, { fields: { most } });
}
