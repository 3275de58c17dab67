import { checkKeyAgain, databaseOf, scopeOf } from '../admission/access.js';
import type { Values } from '../http/query-parameters.js';
import { NDJSON, sendStream } from '../http/streamed-response.js';
import type { EXPORT_QUERY } from '../operations/records.js';
import type { Dependencies, Handlers } from './dependencies.js';

export function exportHandlers({ backend, keys, timeouts, inFlight }: Dependencies): Handlers {
  return {
    async exportRecords(request, reply) {
      const asked = request.query as Values<typeof EXPORT_QUERY>;
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
