import { createHash, webcrypto } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { overTurns } from '../../async/turns.js';
import type { Coding } from './accept-encoding.js';
import { codingOf, compressWell } from './compression.js';
import { addVary } from './vary.js';

/**
 * A response body that is sent many times, with its type and its entity tag. `@fastify/etag` would hash it for every request, and
 * large bodies on the event loop.
 */
export interface TaggedBody {
  type: string;
  etag: string;
  bytes: Buffer;
  /** The body in each coding in which it was sent so far. */
  coded: Map<Coding, Promise<Buffer>>;
}

export function tagged(body: string, type: string): TaggedBody {
  const bytes = Buffer.from(body);
  const etag = tagOf(createHash('sha256').update(bytes).digest());
  return { type, etag, bytes, coded: new Map([['identity', Promise.resolve(bytes)]]) };
}

/** Sends `tagged`, or status 304 if `if-none-match` has its tag. */
export async function sendTagged(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, etag, bytes, coded }: TaggedBody,
): Promise<FastifyReply> {
  if (isUnchanged(request, reply, etag)) return reply;
  const coding = codingOf(request, bytes.length);
  let body = coded.get(coding);
  if (body === undefined) {
    body = compressWell(bytes, coding);
    coded.set(coding, body);
    // The next request tries again.
    body.catch(() => coded.delete(coding));
  }
  addVary(reply, 'accept-encoding');
  if (coding !== 'identity') reply.header('content-encoding', coding);
  reply.header('content-type', type);
  const sent = await body;
  // Without the body, because what makes a response of it would work for nothing.
  if (request.method === 'HEAD') return reply.header('content-length', String(sent.length)).send();
  return reply.send(sent);
}

/** The bodies of {@link sendWithTag}, one in a turn: to hand some megabytes to the thread pool takes milliseconds. */
const hashOverTurns = overTurns(1);

/** Like {@link sendTagged}, for a body that is sent once and may be large: it is hashed in the thread pool. */
export async function sendWithTag(
  request: FastifyRequest,
  reply: FastifyReply,
  body: Uint8Array,
  type: string,
): Promise<FastifyReply> {
  const hash = await new Promise<ArrayBuffer>((resolve, reject) => {
    hashOverTurns(() => webcrypto.subtle.digest('SHA-256', body).then(resolve, reject));
  });
  if (isUnchanged(request, reply, tagOf(Buffer.from(hash)))) return reply;
  return reply.header('content-type', type).send(body);
}

/** The tag of a body with this hash, so it changes exactly when the body does. */
function tagOf(hash: Buffer): string {
  // Weak, because the same body is sent with different codings.
  return `W/"${hash.toString('base64url').slice(0, 22)}"`;
}

/** Sets the tag of the response; sends status 304 if `if-none-match` has it. */
function isUnchanged(request: FastifyRequest, reply: FastifyReply, etag: string): boolean {
  reply.header('etag', etag);
  if (!matches(request.headers['if-none-match'], etag)) return false;
  addVary(reply, 'accept-encoding');
  reply.code(304).send();
  return true;
}

/** Compares weakly (RFC 9110, section 8.8.3.2): proxies that compress add or remove `W/`. */
function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  const [, opaque] = /^W\/(".*")$/.exec(etag) ?? [];
  return [...header.matchAll(/(?:W\/)?("[^"]*")/g)].some(([, given]) => given === opaque);
}
