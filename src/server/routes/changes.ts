import { LinkedAbort } from '../../async/linked-abort.js';
import { CosiftError } from '../../errors.js';
import { DEFAULTS, EPOCH } from '../../schema/index.js';
import { checkKeyAgain, databaseOf, scopeOf } from '../admission/access.js';
import { withAbortAndTimeout, withTimeout } from '../admission/deadlines.js';
import { sendJson } from '../http/send-json.js';
import type { Dependencies, Handlers } from './dependencies.js';

const MAX_CHANGES = 1000;

export function changeHandlers({ backend, keys, limits, timeouts, inFlight }: Dependencies): Handlers {
  return {
    async changes(request, reply) {
      const query = request.query as Record<string, unknown>;
      const after = integerOf(query, 'after', 0, 0, Number.MAX_SAFE_INTEGER);
      const limit = integerOf(query, 'limit', DEFAULTS.changes_limit, 1, MAX_CHANGES);
      const waitSeconds = integerOf(query, 'wait', 0, 0, limits.change_wait_seconds);
      const epoch = epochOf(query);
      const id = databaseOf(request);
      const scope = scopeOf(request);
      const waitForChanges = (waitMs: number) =>
        withAbortAndTimeout(request, reply, waitMs + timeouts.responseMs, async ({ signal }) => {
          using stop = new LinkedAbort(signal, inFlight.closing);
          return await backend.changes(id, { after, limit, waitMs, epoch }, { scope, signal: stop.signal });
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
        backend.changes(id, { after, limit, waitMs: 0, epoch }, { scope }),
      );
      // The key may have been revoked or have expired during the wait.
      if (waitSeconds > 0) await checkKeyAgain(keys, request);
      return sendJson(reply, changes);
    },
  };
}

function epochOf({ epoch }: Record<string, unknown>): string | undefined {
  if (epoch === undefined || (typeof epoch === 'string' && EPOCH.test(epoch))) return epoch;
  throw new CosiftError(
    'invalid_request',
    'the query parameter "epoch" must be one that a response of this feed contained',
  );
}

function integerOf(
  query: Record<string, unknown>,
  name: string,
  defaultValue: number,
  min: number,
  max: number,
): number {
  const text = query[name];
  if (text === undefined) return defaultValue;
  const value = typeof text === 'string' && /^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new CosiftError(
    'invalid_request',
    `the query parameter "${name}" must be a whole number from ${min} to ${max}`,
  );
}
