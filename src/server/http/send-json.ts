import type { FastifyReply } from 'fastify';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** Sends bytes that are JSON already. */
export function sendJson(reply: FastifyReply, body: Uint8Array): FastifyReply {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return reply.header('content-type', JSON_TYPE).send(bytes);
}
