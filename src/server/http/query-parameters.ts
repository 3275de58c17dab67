import type { FastifyInstance } from 'fastify';
import { CosiftError } from '../../errors.js';
import { didYouMean } from '../../schema/index.js';

/**
 * Refuses a query parameter that the operation does not have, one that is given more than once, and a query that is not
 * encoded UTF-8.
 */
export function checkQueryParameters(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (!isEncoded(request.raw.url ?? '')) {
      return done(
        new CosiftError('invalid_request', 'the query has a "%" that does not begin a character of UTF-8'),
      );
    }
    const known = request.operation?.query?.map(({ name }) => name) ?? [];
    for (const [name, value] of Object.entries(request.query as Record<string, unknown>)) {
      const fault = faultOf(name, value, known);
      if (fault !== undefined) return done(new CosiftError('invalid_request', fault));
    }
    done();
  });
}

/** Whether every `%` in the query of a target begins a character. The parser leaves others as they are. */
function isEncoded(target: string): boolean {
  const start = target.indexOf('?');
  if (start < 0 || !target.includes('%', start)) return true;
  try {
    decodeURIComponent(target.slice(start));
    return true;
  } catch {
    return false;
  }
}

function faultOf(name: string, value: unknown, known: readonly string[]): string | undefined {
  const parameter = `the query parameter ${JSON.stringify(name)}`;
  if (known.length === 0) return `${parameter} is not known; this operation has none`;
  if (!known.includes(name)) {
    return `${parameter} is not known${didYouMean(name, known) || `; known: ${known.join(', ')}`}`;
  }
  return Array.isArray(value) ? `${parameter} is given more than once` : undefined;
}
