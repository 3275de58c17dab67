import type { FastifyReply } from 'fastify';

/** Adds a request header on which the response depends to `vary`. */
export function addVary(reply: FastifyReply, name: string): void {
  const existing = reply.getHeader('vary');
  const names = existing === undefined ? [] : String(existing).split(', ');
  if (!names.includes(name)) reply.header('vary', [...names, name].join(', '));
}
