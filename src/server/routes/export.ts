import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CosiftError } from '../../errors.js';
import { checkExportFilter, type FilterGroup, type Limits } from '../../schema/index.js';
import { checkKeyAgain, databaseOf, scopeOf } from '../admission/access.js';
import { logFailure } from '../http/log-failure.js';
import { onClose } from '../http/on-close.js';
import { asCosiftError } from '../http/problem-response.js';
import { parseStrictJson } from '../http/strict-json.js';
import type { Dependencies, Handlers } from './dependencies.js';

export function exportHandlers(dependencies: Dependencies): Handlers {
  return {
    async exportRecords(request, reply) {
      const { vectors, filter } = request.query as { vectors?: string; filter?: string };
      const asked = { vectors: flagOf('vectors', vectors), filter: filterOf(filter, dependencies.limits) };
      return streamExport(dependencies, request, reply, databaseOf(request), asked);
    },
  };
}

/**
 * Streams an export as fast as the client reads it. A failure after the first chunk closes the connection before the end
 * of the response, so that the client learns of it.
 */
async function streamExport(
  { backend, keys, timeouts, inFlight }: Dependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  id: string,
  asked: { vectors: boolean; filter: FilterGroup | undefined },
): Promise<FastifyReply> {
  const release = request.resources?.hold();
  const stopped = new AbortController();
  const { signal } = stopped;
  const closing = () => stopped.abort(inFlight.closing.reason);
  inFlight.closing.addEventListener('abort', closing, { once: true });
  const lines = backend.exportLines(id, asked, { scope: scopeOf(request), signal })[Symbol.asyncIterator]();
  // Runs in every case, even if the response is never started or the client does not read all of it.
  onClose(request, reply, () => {
    inFlight.closing.removeEventListener('abort', closing);
    stopped.abort(new CosiftError('stopped', 'the caller went away'));
    const ended = Promise.resolve(lines.return?.());
    ended.catch(() => undefined).finally(() => release?.());
  });

  // An error before the first chunk becomes an ordinary error response with its own status.
  const timer = setTimeout(() => stopped.abort(timedOut(timeouts.responseMs)), timeouts.responseMs);
  let next: IteratorResult<Uint8Array>;
  try {
    next = await lines.next();
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    clearTimeout(timer);
  }

  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      while (!next.done) {
        yield next.value;
        // The key may have been revoked or have expired since the last chunk.
        [next] = await Promise.all([lines.next(), checkKeyAgain(keys, request)]);
      }
    } catch (error) {
      const failure = asCosiftError(signal.aborted ? signal.reason : error);
      logFailure(request.log, failure, 'export ended early');
      throw failure;
    } finally {
      await lines.return?.();
    }
  }

  reply.header('content-type', 'application/x-ndjson; charset=utf-8');
  if (request.method === 'HEAD') {
    await lines.return?.();
    return reply.send();
  }
  return reply.send(Readable.from(chunks(), { objectMode: false }));
}

function timedOut(ms: number): CosiftError {
  return new CosiftError('timed_out', `took longer than ${ms} ms`);
}

function flagOf(name: string, text: string | undefined): boolean {
  if (text === undefined || text === 'true' || text === 'false') return text === 'true';
  throw new CosiftError('invalid_request', `the query parameter "${name}" must be true or false`);
}

function filterOf(text: string | undefined, limits: Limits): FilterGroup | undefined {
  if (text === undefined) return undefined;
  return checkExportFilter(parsed(Buffer.from(text), limits), limits);
}

/** Parses the filter. Pointers of its errors begin with `/filter`, as those of a filter that is not allowed. */
function parsed(filter: Buffer, limits: Limits): unknown {
  try {
    return parseStrictJson(filter, limits);
  } catch (error) {
    if (!(error instanceof CosiftError)) throw error;
    throw new CosiftError(error.code, `the query parameter "filter": ${error.detail}`, {
      problems: error.problems.map((problem) => ({ ...problem, pointer: `/filter${problem.pointer}` })),
    });
  }
}
