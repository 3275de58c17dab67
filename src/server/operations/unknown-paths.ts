import type { FastifyReply, FastifyRequest } from 'fastify';
import { CosiftError } from '../../errors.js';
import { sendProblem } from '../http/problem-response.js';
import { allowedMethods } from './allowed-methods.js';

/**
 * Responds to a path and a method that no route takes: 204 to `OPTIONS`, 405 to other methods, 404 to unknown paths. A
 * preflight of an allowed page gets 204 for unknown paths, too.
 */
export function answerWithoutRoute(
  request: FastifyRequest,
  reply: FastifyReply,
  isPreflight: boolean,
): FastifyReply {
  const allowed = allowedMethods(pathOf(request.url));
  if (allowed.length === 0) {
    if (isPreflight) return reply.code(204).send();
    return sendProblem(request, reply, new CosiftError('not_found', 'there is nothing at this path'));
  }
  reply.header('allow', allowed.join(', '));
  if (request.method === 'OPTIONS') return reply.code(204).send();
  const detail = `this path takes ${allowed.join(', ')}`;
  return sendProblem(request, reply, new CosiftError('method_not_allowed', detail));
}

/** The path of a target as the router reads it: without the origin that proxies send, and decoded except for `/`. */
function pathOf(target: string): string {
  const [path = ''] = target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '').split(/[?#]/, 1);
  return decodeURI(path);
}
