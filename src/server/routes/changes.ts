import { LinkedAbort } from '../../async/linked-abort.js';
import { checkKeyAgain, databaseOf, scopeOf } from '../admission/access.js';
import { withAbortAndTimeout, withTimeout } from '../admission/deadlines.js';
import type { Values } from '../http/query-parameters.js';
import { sendJson } from '../http/send-json.js';
import type { CHANGES_QUERY } from '../operations/records.js';
import type { Dependencies, Handlers } from './dependencies.js';

export function changeHandlers({ backend, keys, timeouts, inFlight }: Dependencies): Handlers {
  return {
    async changes(request, reply) {
      const { wait: waitSeconds, ...feed } = request.query as Values<typeof CHANGES_QUERY>;
      const id = databaseOf(request);
      const scope = scopeOf(request);
      const waitForChanges = (waitMs: number) =>
        withAbortAndTimeout(request, reply, waitMs + timeouts.responseMs, async ({ signal }) => {
          using stop = new LinkedAbort(signal, inFlight.closing);
          return await backend.changes(id, { ...feed, waitMs }, { scope, signal: stop.signal });
        });
      let changes: Uint8Array | undefined;
      if (waitSeconds > 0 && !inFlight.closing.aborted) {
        changes = await waitForChanges(waitSeconds * 1000).catch((error) => {
          if (!inFlight.closing.aborted) throw error;
          return undefined;
        });
      }
      // When the server stops, waiting requests get the changes that exist now.
      changes ??= await withTimeout(request, timeouts.responseMs, () =>
        backend.changes(id, { ...feed, waitMs: 0 }, { scope }),
      );
      // The key may have been revoked or have expired during the wait.
      if (waitSeconds > 0) await checkKeyAgain(keys, request);
      return sendJson(reply, changes);
    },
  };
}
