import { createHash, webcrypto } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Compressing, codingOf, compressWell } from './compression.js';
import { overTurns } from './turns.js';
import { addVary } from './vary.js';

/** A response body that is sent many times, with its type and its entity tag. */
export interface TaggedBody {
  body: string;
  type: string;
  etag: string;
  /** The compressed bodies that were sent so far. */
  compressed: Map<Compressing, Promise<Buffer>>;
}

export function tagged(body: string, type: string): TaggedBody {
  const etag = tagOf(createHash('sha256').update(body).digest());
  return { body, type, etag, compressed: new Map() };
}

/** Sends `tagged`, or status 304 if `if-none-match` has its tag. */
export async function sendTagged(
  request: FastifyRequest,
  reply: FastifyReply,
  { body, type, etag, compressed }: TaggedBody,
): Promise<FastifyReply> {
  if (isUnchanged(request, reply, etag)) return reply;
  reply.header('content-type', type);
  const coding = codingOf(request, Buffer.byteLength(body));
  if (coding === 'identity') return reply.send(body);
  let bytes = compressed.get(coding);
  if (bytes === undefined) {
    bytes = compressWell(body, coding);
    compressed.set(coding, bytes);
    // The next request tries again.
    bytes.catch(() => compressed.delete(coding));
  }
  addVary(reply, 'accept-encoding');
  return reply.header('content-encoding', coding).send(await bytes);
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
