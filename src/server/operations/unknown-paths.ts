import type { FastifyReply, FastifyRequest } from 'fastify';
import { CosiftError } from '../../errors.js';
import { sendProblem } from '../http/problem-response.js';
import { allowedMethods } from './allowed-methods.js';

/** Responds to a path and a method that no route takes: 204 to `OPTIONS`, 405 to other methods, 404 to unknown paths. */
export function answerWithoutRoute(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const allowed = allowedMethods(request.url.split('?', 1)[0] ?? '');
  if (allowed.length === 0) {
    return sendProblem(request, reply, new CosiftError('not_found', 'there is nothing at this path'));
  }
  reply.header('allow', allowed.join(', '));
  if (request.method === 'OPTIONS') return reply.code(204).send();
  const detail = `this path takes ${allowed.join(', ')}`;
  return sendProblem(request, reply, new CosiftError('method_not_allowed', detail));
}
