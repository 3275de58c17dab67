import type { FastifyInstance } from 'fastify';
import { CosiftError } from '../../errors.js';
import { didYouMean } from '../../schema/index.js';

/** Refuses a query parameter that the operation does not have, and one that is given more than once. */
export function checkQueryParameters(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const known = request.operation?.query?.map(({ name }) => name) ?? [];
    for (const [name, value] of Object.entries(request.query as Record<string, unknown>)) {
      const fault = faultOf(name, value, known);
      if (fault !== undefined) return done(new CosiftError('invalid_request', fault));
    }
    done();
  });
}

function faultOf(name: string, value: unknown, known: readonly string[]): string | undefined {
  const parameter = `the query parameter ${JSON.stringify(name)}`;
  if (known.length === 0) return `${parameter} is not known; this operation has none`;
  if (!known.includes(name)) {
    return `${parameter} is not known${didYouMean(name, known) || `; known: ${known.join(', ')}`}`;
  }
  return Array.isArray(value) ? `${parameter} is given more than once` : undefined;
}
