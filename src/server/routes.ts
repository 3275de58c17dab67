import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CosiftError } from '../errors.js';
import { holdingResources } from './admission/request-resources.js';
import { sendProblem } from './http/problem-response.js';
import { PAGE_FILE } from './resources/page.js';
import type { Dependencies, Served } from './resources/resource.js';
import { OPERATIONS } from './variants/variants.js';

const PATHS = new Map<string, { pattern: RegExp; methods: string[] }>();
for (const { path, method } of Object.values(OPERATIONS)) {
  const pattern = new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]*')}$`);
  const entry = PATHS.get(path) ?? { pattern, methods: [] };
  entry.methods.push(...methodsOf(method));
  PATHS.set(path, entry);
}

/** Path segments after `/records/` that are operations, not record ids. */
export const RESERVED_IDS: ReadonlySet<string> = new Set(
  [...PATHS.keys()].flatMap((path) => /\/records\/(\w+)$/.exec(path)?.[1] ?? []),
);

/** The methods that the decoded `path` takes; none for an unknown path. As in the router, the template with the fewest parameters wins. */
function allowedMethods(path: string): string[] {
  let best: { parameters: number; methods: string[] } | undefined;
  for (const [template, { pattern, methods }] of PATHS) {
    if (!pattern.test(path)) continue;
    const parameters = template.split('{').length - 1;
    if (best === undefined || parameters < best.parameters) best = { parameters, methods };
  }
  return best === undefined ? [] : [...best.methods, 'OPTIONS'];
}

/** Every method that some path takes. */
export function everyMethod(): string[] {
  return [...new Set([...PATHS.values()].flatMap(({ methods }) => methods))];
}

/** `HEAD` runs the route of `GET`, and Node drops the body. */
function methodsOf(method: string): string[] {
  return method === 'GET' ? ['GET', 'HEAD'] : [method];
}

export function addRoutes(app: FastifyInstance, dependencies: Dependencies): void {
  const served: [string, Served][] = [...Object.entries(OPERATIONS), ['page', PAGE_FILE]];
  for (const [operationId, operation] of served) {
    app.route({
      method: methodsOf(operation.method),
      url: operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      config: { operation, operationId },
      handler: holdingResources(operation.handler(dependencies)),
    });
  }
}

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
