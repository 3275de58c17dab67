import type { FastifyReply } from 'fastify';

export const JSON_TYPE = 'application/json; charset=utf-8';
export const HTML_TYPE = 'text/html; charset=utf-8';

/** Sends bytes that are JSON already. Returns the value that the handler must return. */
export function sendJson(reply: FastifyReply, body: Uint8Array, type = JSON_TYPE): FastifyReply | undefined {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  reply.header('content-type', type).send(bytes);
  // To await a reply takes time, and Fastify needs it only while the response is not sent.
  return reply.sent ? undefined : reply;
}
