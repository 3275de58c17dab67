import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { CosiftError } from '../errors.js';
import { jsonDepth, type Limits } from '../schema/index.js';
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
export function readBodies(app: FastifyInstance, limits: Limits, bodyTimeoutMs: number): void {
  const depth = jsonDepth(limits);
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
    const body = await collect(payload, most, bodyTimeoutMs);
    if (body.length === 0 && (operation?.body === undefined || operation.bodyOptional)) return undefined;
    if (batch) return body;
    request.bodyBytes = body.length;
    return parseStrictJson(body, depth);
  });
  app.addContentTypeParser('application/x-ndjson', async (request: FastifyRequest, payload: unknown) => {
    checkCoding(request);
    if (request.routeOptions.config.operation?.lines === undefined) {
      throw new CosiftError('unsupported_media_type', 'send the body as application/json');
    }
    return payload;
  });
}

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

/** The whole body. The stream is not destroyed when it is refused: that would take away the way to answer. */
function collect(payload: Readable, most: number, timeoutMs: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const settle = (error?: CosiftError) => {
      clearTimeout(timer);
      payload.off('data', take).off('end', settle).off('close', breakOff).off('error', breakOff);
      if (error === undefined)
        return resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
      // What still comes is let through unread; a broken stream must not bring the process down.
      payload.on('error', () => undefined).resume();
      return reject(error);
    };
    const take = (chunk: Buffer) => {
      length += chunk.length;
      chunks.push(chunk);
      if (length > most) settle(tooLarge(most));
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
