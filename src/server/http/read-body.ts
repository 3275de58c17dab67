import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { FairLimiter } from '../../async/fair-limiter.js';
import { CosiftError } from '../../errors.js';
import { type Limits, searchesBytes } from '../../schema/index.js';
import { BodyBuffer, collectBody, takeBody, tooLarge } from './body-buffer.js';
import { closeUnread, drain, UNKNOWN_CALLER } from './drain.js';
import { parseSearches } from './parse-searches.js';
import { refusalOf, refuseSmallChunks } from './small-chunks.js';
import { parseStrictJson } from './strict-json.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether the request has waited for its body to arrive or to be parsed since its key was checked. */
    hasWaitedForBody: boolean;
  }
}

export interface BodyOptions {
  limits: Limits;
  /** Maximum time for a JSON body to arrive. */
  timeoutMs: number;
  /** Reserves memory for `bytes` more bytes of the body of a request; throws when that exceeds a limit. */
  reserve: (request: FastifyRequest, bytes: number) => void;
  /** Returns the caller. Callers take turns when large bodies are parsed. */
  callerOf: (request: FastifyRequest) => string;
}

/**
 * Sets how bodies are read. JSON is parsed strictly, within its limits and its time. A batch of records and a patch stay
 * buffers, because the engine parses them. NDJSON stays a stream.
 */
export function readBodies(
  app: FastifyInstance,
  { limits, timeoutMs, reserve, callerOf }: BodyOptions,
): void {
  // Large bodies are parsed one at a time, so that other requests are served in between.
  const parsing = new FairLimiter({ total: 1, perCaller: 1 });
  refuseSmallChunks(app);
  app.decorateRequest('hasWaitedForBody', false);
  app.removeAllContentTypeParsers();
  app.addHook('onResponse', ({ raw, caller }, _reply, done) => {
    // A request of the service itself has no connection, and does not say whether it is complete.
    if (raw.complete !== false) return done();
    if (refusalOf(raw) !== undefined) closeUnread(raw.socket);
    else drain(raw, caller === null ? UNKNOWN_CALLER : { maxBytes: limits.batch_bytes, maxMs: timeoutMs });
    return done();
  });
  const engineBytes: Partial<Record<string, number>> = {
    Batch: limits.batch_bytes,
    RecordPatch: limits.record_bytes,
  };
  const readJson = async (request: FastifyRequest, payload: Readable) => {
    const { operation } = request;
    if (operation?.body === undefined && operation?.lines !== undefined) throw unsupportedType(request);
    checkCoding(request);
    const engineMaxBytes = engineBytes[operation?.body ?? ''];
    const maxBytes = engineMaxBytes ?? (operation?.isBatch ? searchesBytes(limits) : limits.body_bytes);
    const declared = Number(request.headers['content-length'] ?? 0);
    if (declared > maxBytes) throw tooLarge(maxBytes);
    if (operation?.body === undefined && declared > 0) throw takesNoBody();
    const reserveBytes = (bytes: number) => reserve(request, bytes);
    let body: Buffer;
    // Most bodies arrive together with the head of their request.
    if (declared > 0 && payload.readableLength === declared) {
      body = takeBody(payload, reserveBytes);
    } else {
      request.hasWaitedForBody = true;
      body = await collectBody(payload, new BodyBuffer(maxBytes, declared, reserveBytes), timeoutMs);
    }
    if (operation?.body === undefined && body.length > 0) throw takesNoBody();
    if (body.length === 0 && (operation?.body === undefined || operation.bodyOptional)) return undefined;
    if (engineMaxBytes !== undefined) return body;
    const parse = operation?.isBatch ? parseSearches : parseStrictJson;
    if (body.length < LARGE_BYTES) return parse(body, limits);
    request.hasWaitedForBody = true;
    return parsing.run(callerOf(request), async () => {
      await setImmediate();
      return parse(body, limits);
    });
  };
  // An operation without a body takes an empty one of any type.
  const refuseType = (request: FastifyRequest, payload: Readable) => {
    if (request.operation?.body !== undefined) throw unsupportedType(request);
    return readJson(request, payload);
  };
  app.addContentTypeParser('application/json', readJson);
  app.addContentTypeParser(MERGE_PATCH, async (request: FastifyRequest, payload: Readable) => {
    const { operation } = request;
    return operation?.mergePatch ? readJson(request, payload) : refuseType(request, payload);
  });
  app.addContentTypeParser(NDJSON, async (request: FastifyRequest, payload: Readable) => {
    const { operation } = request;
    if (operation?.lines === undefined) return refuseType(request, payload);
    checkCoding(request);
    return payload;
  });
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: Readable) =>
    refuseType(request, payload),
  );
}

/** The media type of RFC 7396. */
const MERGE_PATCH = 'application/merge-patch+json';

/** JSON values, one per line. */
const NDJSON = 'application/x-ndjson';

/** Parsing and checking a body of this size takes milliseconds. */
const LARGE_BYTES = 65_536;

function takesNoBody(): CosiftError {
  return new CosiftError('invalid_request', 'this operation takes no body');
}

function unsupportedType({ headers, operation }: FastifyRequest): CosiftError {
  const { lines, mergePatch } = operation ?? {};
  const types = [
    ...(operation?.body ? ['application/json'] : []),
    ...(lines ? [NDJSON] : []),
    ...(mergePatch ? [MERGE_PATCH] : []),
  ];
  const given = headers['content-type'];
  return new CosiftError(
    'unsupported_media_type',
    `content-type is ${given === undefined ? 'missing' : JSON.stringify(given)}; send the body as ${types.join(' or ')}`,
  );
}

function checkCoding({ headers }: FastifyRequest): void {
  const coding = headers['content-encoding']?.toLowerCase() ?? 'identity';
  if (coding !== 'identity') {
    const detail = `content-encoding is ${JSON.stringify(coding)}; send the body without it, not compressed`;
    throw new CosiftError('unsupported_media_type', detail);
  }
  // Node removes the coding `chunked`, and ignores those before it.
  const transfer = headers['transfer-encoding']?.trim().toLowerCase() ?? 'chunked';
  if (transfer !== 'chunked') {
    const detail = `transfer-encoding is ${JSON.stringify(transfer)}; only "chunked" is supported`;
    throw new CosiftError('unsupported_media_type', detail);
  }
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(headers['content-type'] ?? '')?.[1];
  if (charset !== undefined && charset.toLowerCase() !== 'utf-8' && charset.toLowerCase() !== 'utf8') {
    throw new CosiftError(
      'unsupported_media_type',
      `the charset is ${JSON.stringify(charset)}; it must be utf-8`,
    );
  }
}
