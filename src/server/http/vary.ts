import type { FastifyReply } from 'fastify';

/** Adds a request header on which the response depends to `vary`. */
export function addVary(reply: FastifyReply, name: string): void {
  const existing = reply.getHeader('vary');
  reply.header('vary', existing === undefined ? name : `${existing}, ${name}`);
}
