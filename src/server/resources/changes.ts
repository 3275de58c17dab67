import type { FastifyRequest } from 'fastify';
import { LinkedAbort } from '../../async/linked-abort.js';
import type { ChangesRequest } from '../../databases/index.js';
import { CosiftError } from '../../errors.js';
import { type Changes, DEFAULTS, epoch, type Limits, parseJson } from '../../schema/index.js';
import { checkKeyAgain, databaseOf, scopeOf } from '../admission/access.js';
import { withAbortAndTimeout, withTimeout } from '../admission/deadlines.js';
import { acceptsEvents, EVENT_STREAM, eventOf } from '../http/event-stream.js';
import { matching, type Values, wholeNumber } from '../http/query-parameters.js';
import { sendJson } from '../http/send-json.js';
import { sendStream } from '../http/streamed-response.js';
import { addVary } from '../http/vary.js';
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

type ChangesQuery = Values<typeof CHANGES_QUERY>;

export const CHANGES: Resource = {
  changes: {
    method: 'GET',
    path: '/v1/databases/{id}/changes',
    tag: 'Records',
    summary: 'Read the change feed of a database',
    description:
      'Changes are in the order of commits. `position` and `epoch` of one response are `after` and `epoch` of the next ' +
      'request. A key with a filter sees the records that pass it, and `deleted` for a record that no longer passes. With ' +
      '`accept: text/event-stream` the response is a stream of server-sent events that goes on until the client closes it: ' +
      'one event for each change, with the change as `data`, and at least every 15 seconds an event without data. The `id` ' +
      'of an event is its epoch, a colon and its position; the request header `last-event-id` takes it in place of `after` ' +
      'and `epoch`. `limit` and `wait` are refused then.',
    actions: ['records.read'],
    query: CHANGES_QUERY,
    success: [
      { status: 200, description: 'Changes after the position', schema: 'Changes' },
      { status: 200, description: 'A change an event', type: EVENT_STREAM },
    ],
    errors: ['feed_restarted', 'changes_removed'],
    kind: 'waits',
    handler:
      ({ databases, keys, limits, timeouts, inFlight }) =>
      async (request, reply) => {
        const { wait: waitSeconds, ...feed } = request.query as ChangesQuery;
        const id = databaseOf(request);
        const scope = scopeOf(request);
        addVary(reply, 'accept');
        if (acceptsEvents(request)) {
          const from = startOf(request, limits);
          // So that proxies pass on each event at once.
          reply.header('x-accel-buffering', 'no');
          return sendStream(request, reply, inFlight.closing, {
            type: EVENT_STREAM,
            open: (signal) => {
              const read = (request: ChangesRequest) => databases.feed.read(id, request, { scope, signal });
              return changeEvents(read, from, timeouts.heartbeatMs, signal);
            },
            firstMs: timeouts.responseMs,
            check: () => checkKeyAgain(keys, request),
          });
        }
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

type Start = Pick<ChangesRequest, 'after' | 'epoch'>;

/** Where a stream of events begins. */
function startOf(request: FastifyRequest, limits: Limits): Start {
  const { after, epoch, limit, wait } = request.query as ChangesQuery;
  if (limit !== CHANGES_QUERY.limit.absent || wait !== CHANGES_QUERY.wait.absent) {
    throw new CosiftError(
      'invalid_request',
      `a response of type ${EVENT_STREAM} has no "limit" and no "wait"`,
    );
  }
  const header = request.headers['last-event-id'];
  if (header === undefined) return { after, epoch };
  const [ofHeader = '', position = '', ...rest] = String(header).split(':');
  const start = {
    after: CHANGES_QUERY.after.parse(position, limits),
    epoch: CHANGES_QUERY.epoch.parse(ofHeader, limits),
  };
  if (start.after === undefined || start.epoch === undefined || rest.length > 0) {
    throw new CosiftError(
      'invalid_request',
      'the header "last-event-id" must be the id of an event of this feed',
    );
  }
  return { after: start.after, epoch: start.epoch };
}

/** The events of the changes, until the signal is aborted. An event without data follows `heartbeatMs` without changes. */
async function* changeEvents(
  read: (request: ChangesRequest) => Promise<Uint8Array>,
  from: Start,
  heartbeatMs: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let { after, epoch } = from;
  // The first event comes at once: it tells the client that the stream is open.
  for (let waitMs = 0; !signal.aborted; waitMs = heartbeatMs) {
    const body = await read({ after, epoch, limit: DEFAULTS.changes_limit, waitMs }).catch((error) => {
      if (!signal.aborted) throw error;
    });
    if (body === undefined) return;
    const feed = parseJson<Changes>(body);
    ({ position: after, epoch } = feed);
    const events = feed.changes.map((change) => eventOf(`${epoch}:${change.position}`, change));
    yield Buffer.from([...events, eventOf(`${epoch}:${after}`)].join(''));
  }
}
