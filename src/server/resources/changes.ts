import { LinkedAbort } from '../../async/linked-abort.js';
import { DEFAULTS, epoch } from '../../schema/index.js';
import { checkKeyAgain, databaseOf, scopeOf } from '../admission/access.js';
import { withAbortAndTimeout, withTimeout } from '../admission/deadlines.js';
import { matching, type Values, wholeNumber } from '../http/query-parameters.js';
import { sendJson } from '../http/send-json.js';
import type { Resource } from './resource.js';

const MAX_CHANGES = 1000;

const CHANGES_QUERY = {
  after: wholeNumber(
    'Position after which changes are returned; 0, the default, is the start.',
    [0, () => Number.MAX_SAFE_INTEGER],
    0,
  ),
  limit: wholeNumber(
    'Maximum number of changes: 1 to 1000, default 100.',
    [1, () => MAX_CHANGES],
    DEFAULTS.changes_limit,
  ),
  wait: wholeNumber(
    'Seconds to wait for a change if there is none: 0, the default, to 60.',
    [0, (limits) => limits.change_wait_seconds],
    0,
  ),
  epoch: matching(
    epoch,
    'Epoch of the feed that `after` belongs to. If the database has another epoch: 410 `feed_restarted`.',
    'one that a response of this feed contained',
  ),
};

export const CHANGES: Resource = {
  changes: {
    method: 'GET',
    path: '/v1/databases/{id}/changes',
    tag: 'Records',
    summary: 'Read the change feed of a database',
    description:
      'Changes are in the order of commits. `position` and `epoch` of one response are `after` and `epoch` of the next ' +
      'request. A key with a filter sees the records that pass it, and `deleted` for a record that no longer passes.',
    actions: ['records.read'],
    query: CHANGES_QUERY,
    success: [{ status: 200, description: 'Changes after the position', schema: 'Changes' }],
    errors: ['feed_restarted', 'changes_removed'],
    kind: 'waits',
    handler:
      ({ databases, keys, timeouts, inFlight }) =>
      async (request, reply) => {
        const { wait: waitSeconds, ...feed } = request.query as Values<typeof CHANGES_QUERY>;
        const id = databaseOf(request);
        const scope = scopeOf(request);
        const waitForChanges = (waitMs: number) =>
          withAbortAndTimeout(request, reply, waitMs + timeouts.responseMs, async ({ signal }) => {
            using stop = new LinkedAbort(signal, inFlight.closing);
            return await databases.feed.read(id, { ...feed, waitMs }, { scope, signal: stop.signal });
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
          databases.feed.read(id, { ...feed, waitMs: 0 }, { scope }),
        );
        // The key may have been revoked or have expired during the wait.
        if (waitSeconds > 0) await checkKeyAgain(keys, request);
        return sendJson(reply, changes);
      },
  },
};
