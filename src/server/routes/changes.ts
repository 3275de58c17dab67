import { LinkedAbort } from '../../async/linked-abort.js';
import { CosiftError } from '../../errors.js';
import { DEFAULTS, EPOCH } from '../../schema/index.js';
import { checkKeyAgain, databaseOf, scopeOf } from '../admission/access.js';
import { withAbortAndTimeout, withTimeout } from '../admission/deadlines.js';
import { sendJson } from '../http/send-json.js';
import type { Dependencies, Handlers } from './dependencies.js';

const MOST_CHANGES = 1000;
const PARAMETERS = ['after', 'limit', 'wait', 'epoch'];

export function changeHandlers({ backend, keys, limits, timeouts, inFlight }: Dependencies): Handlers {
  return {
    async changes(request, reply) {
      const query = request.query as Record<string, unknown>;
      const unknown = Object.keys(query).find((name) => !PARAMETERS.includes(name));
      if (unknown !== undefined) {
        throw new CosiftError(
          'invalid_request',
          `"${unknown}" is not a parameter; known: ${PARAMETERS.join(', ')}`,
        );
      }
      const after = wholeNumber(query, 'after', 0, 0, Number.MAX_SAFE_INTEGER);
      const limit = wholeNumber(query, 'limit', DEFAULTS.changes_limit, 1, MOST_CHANGES);
      const waitSeconds = wholeNumber(query, 'wait', 0, 0, limits.change_wait_seconds);
      const epoch = epochOf(query);
      const id = databaseOf(request);
      const scope = scopeOf(request);
      const ask = (waitMs: number) =>
        withAbortAndTimeout(request, reply, waitMs + timeouts.answerMs, async (gone) => {
          using stop = new LinkedAbort(gone, inFlight.closing);
          return await backend.changes(id, { after, limit, waitMs, epoch }, { scope, signal: stop.signal });
        });
      // A server that stops answers those who wait with what there is now.
      if (waitSeconds > 0 && !inFlight.closing.aborted) {
        try {
          const changes = await ask(waitSeconds * 1000);
          await checkKeyAgain(keys, request);
          return sendJson(reply, changes);
        } catch (error) {
          if (!inFlight.closing.aborted) throw error;
        }
      }
      const changes = await withTimeout(request, timeouts.answerMs, () =>
        backend.changes(id, { after, limit, waitMs: 0, epoch }, { scope }),
      );
      return sendJson(reply, changes);
    },
  };
}

function epochOf({ epoch }: Record<string, unknown>): string | undefined {
  if (epoch === undefined || (typeof epoch === 'string' && EPOCH.test(epoch))) return epoch;
  throw new CosiftError('invalid_request', 'epoch must be that of an answer of this feed');
}

function wholeNumber(
  query: Record<string, unknown>,
  name: string,
  absent: number,
  least: number,
  most: number,
): number {
  const text = query[name];
  if (text === undefined) return absent;
  const value = typeof text === 'string' && /^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new CosiftError('invalid_request', `${name} must be a whole number from ${least} to ${most}`);
}
