import { CosiftError } from '../../errors.js';
import { checkExportFilter, type FilterGroup, type Limits } from '../../schema/index.js';
import { checkKeyAgain, databaseOf, scopeOf } from '../admission/access.js';
import { NDJSON, sendStream } from '../http/streamed-response.js';
import { parseStrictJson } from '../http/strict-json.js';
import type { Dependencies, Handlers } from './dependencies.js';

export function exportHandlers({ backend, keys, limits, timeouts, inFlight }: Dependencies): Handlers {
  return {
    async exportRecords(request, reply) {
      const { vectors, filter } = request.query as { vectors?: string; filter?: string };
      const asked = { vectors: flagOf('vectors', vectors), filter: filterOf(filter, limits) };
      const id = databaseOf(request);
      return sendStream(request, reply, inFlight.closing, {
        type: NDJSON,
        open: (signal) => backend.exportLines(id, asked, { scope: scopeOf(request), signal }),
        firstMs: timeouts.responseMs,
        check: () => checkKeyAgain(keys, request),
      });
    },
  };
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
