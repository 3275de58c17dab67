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
  app.addContentTypeParser(
    'application/json',
    async (request: FastifyRequest, payload: AsyncIterable<Buffer>) => {
      checkCharset(request);
      const { operation } = request.routeOptions.config;
      const batch = operation?.body === 'Batch';
      const most = batch ? limits.batch_bytes : limits.body_bytes;
      const declared = Number(request.headers['content-length'] ?? 0);
      if (declared > most) throw tooLarge(most);
      const body = await collect(request, payload, most, bodyTimeoutMs);
      if (body.length === 0 && (operation?.body === undefined || operation.bodyOptional)) return undefined;
      if (batch) return body;
      request.bodyBytes = body.length;
      return parseStrictJson(body, depth);
    },
  );
  app.addContentTypeParser('application/x-ndjson', async (request: FastifyRequest, payload: unknown) => {
    checkCharset(request);
    if (request.routeOptions.config.operation?.lines === undefined) {
      throw new CosiftError('unsupported_media_type', 'send the body as application/json');
    }
    return payload;
  });
}

function checkCharset(request: FastifyRequest): void {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(request.headers['content-type'] ?? '')?.[1];
  if (charset !== undefined && charset.toLowerCase() !== 'utf-8' && charset.toLowerCase() !== 'utf8') {
    throw new CosiftError('unsupported_media_type', 'the charset must be utf-8');
  }
}

async function collect(
  request: FastifyRequest,
  payload: AsyncIterable<Buffer>,
  most: number,
  timeoutMs: number,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  const late = new CosiftError('request_timeout', `the body did not arrive within ${timeoutMs} ms`);
  // Destroying the incoming stream would also take away the way to answer.
  let expire: (error: CosiftError) => void = () => undefined;
  const expired = new Promise<never>((_, reject) => {
    expire = reject;
  });
  const timer = setTimeout(() => expire(late), timeoutMs);
  const arrived = (async () => {
    for await (const chunk of payload) {
      length += chunk.length;
      if (length > most) throw tooLarge(most);
      chunks.push(chunk);
    }
  })();
  arrived.catch(() => undefined);
  try {
    await Promise.race([arrived, expired]);
  } catch (error) {
    if (error instanceof CosiftError) throw error;
    // The caller went away or broke off; nobody reads this answer.
    throw new CosiftError('stopped', 'the body ended early', { cause: error });
  } finally {
    clearTimeout(timer);
  }
  const [only] = chunks;
  if (request.raw.complete === false) throw new CosiftError('stopped', 'the body ended early');
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, length);
}

function tooLarge(most: number): CosiftError {
  return new CosiftError('too_large', `the body is larger than ${most} bytes`, { fields: { most } });
}
