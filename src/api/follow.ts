import { isCode } from '../errors.js';
import { checkOptions } from '../schema/options.js';
import type { Change } from '../schema/public-types.js';
import { callOptions } from './call-options.js';
import type { DatabasePort } from './database-port.js';
import type { CallOptions, ChangesRequest } from './options.js';

/** The maximum number of changes that one call returns. */
const MAX_CHANGES = 1000;
const DEFAULT_WAIT_MS = 30_000;
const MIN_WAIT_MS = 1_000;

/** Yields the changes of a database from a position on, and waits for further ones. */
export function follow(
  database: Pick<DatabasePort, 'changes'>,
  request: Omit<ChangesRequest, 'limit'> = {},
  options?: CallOptions,
): AsyncGenerator<Change, never, undefined> {
  checkOptions('follow', request);
  return changesOf(database, request, callOptions(options));
}

async function* changesOf(
  database: Pick<DatabasePort, 'changes'>,
  { after, epoch, waitMs = DEFAULT_WAIT_MS }: Omit<ChangesRequest, 'limit'>,
  options: CallOptions,
): AsyncGenerator<Change, never, undefined> {
  let position = { after, epoch };
  let wait = waitMs;
  for (;;) {
    try {
      const page = await database.changes({ ...position, limit: MAX_CHANGES, waitMs: wait }, options);
      for (const change of page.changes) {
        options.signal?.throwIfAborted();
        yield change;
      }
      position = { after: page.position, epoch: page.epoch };
    } catch (error) {
      // A service may allow only shorter waits. The wait is never 0, which would send requests without a pause.
      if (!isCode(error, 'invalid_request') || wait <= MIN_WAIT_MS) throw error;
      wait = Math.max(MIN_WAIT_MS, Math.floor(wait / 2));
    }
  }
}
