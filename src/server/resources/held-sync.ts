import type { FastifyRequest } from 'fastify';
import { CosiftError } from '../../errors.js';
import { checkSyncCommit, DATABASE_ID } from '../../schema/index.js';
import { instantOf } from '../../schema/instants.js';
import type { HeldSync, HeldSyncs } from '../../sync/held-syncs.js';
import { callerOf, checkMayRead, databaseOf, refuseFiltered } from '../admission/access.js';
import { withAbortAndTimeout, withTimeout } from '../admission/deadlines.js';
import { matching, type Values, wholeNumber } from '../http/query-parameters.js';
import { MODEL_ERRORS, WRITE_ERRORS } from '../operation.js';
import type { Resource } from './resource.js';
import { optionsOf, sendLines } from './writes.js';

const MAX_KEYS = 50_000;

const POSITION_QUERY = {
  limit: wholeNumber(`How many keys to return, 0 to ${MAX_KEYS}.`, [0, () => MAX_KEYS], 0),
  after: matching(
    { type: 'string', pattern: '^[\\s\\S]{1,512}$' },
    'The key after which they begin.',
    'a key',
  ),
};

const LINES_QUERY = {
  read_at: matching(
    { type: 'string', pattern: '^.{1,64}$' },
    'When the source was read, which is ISO 8601 with Z or an offset: the time at which the records were last synced, unless ' +
      'the stored one is later. Default: now.',
    'a time',
  ),
};

const TAKES_NAME = {
  tag: 'Databases',
  actions: ['records.write'],
} as const;

const HOLD_PATH = '/v1/databases/{id}/sync/{name}/holds/{hold}';

/** A sync whose source another process reads, such as `cosift sync run --url`. */
export const HELD_SYNC: Resource = {
  readSync: {
    ...TAKES_NAME,
    method: 'GET',
    path: '/v1/databases/{id}/sync/{name}',
    summary: 'Read where the runner of a sync continues',
    description: 'The key also needs `records.read`.',
    query: POSITION_QUERY,
    success: [{ status: 200, description: 'What the database has of the sync', schema: 'SyncPosition' }],
    kind: 'reads',
    handler:
      ({ databases, timeouts }) =>
      async (request) => {
        const name = nameOf(request);
        // Its state says why rows were refused.
        checkMayRead(request, 'the position of a sync');
        const { limit, after } = request.query as Values<typeof POSITION_QUERY>;
        const id = databaseOf(request);
        const { state, ...position } = await withTimeout(request, timeouts.responseMs, () =>
          databases.writer.syncPosition(id, { name, limit, after }),
        );
        return { ...position, state: state === null ? null : JSON.parse(state) };
      },
  },
  holdSync: {
    ...TAKES_NAME,
    method: 'POST',
    path: '/v1/databases/{id}/sync/{name}/holds',
    summary: 'Become the runner of a sync',
    description:
      'One runner makes the passes of a sync at a time. A hold ends when it is released, with the service, or when no request ' +
      'with it has come for `seconds`; a request counts until it ends, so an upload that stops in the middle counts until it ' +
      'times out. A key has at most 8 holds. A source that the service ' +
      'follows itself is refused.',
    success: [{ status: 201, description: 'The hold', schema: 'SyncHold' }],
    errors: ['hold_lost', ...WRITE_ERRORS],
    kind: 'writes',
    handler:
      ({ held, timeouts }) =>
      async (request, reply) => {
        const name = nameOf(request);
        const id = databaseOf(request);
        return await withAbortAndTimeout(request, reply, timeouts.responseMs, async ({ signal }) => {
          const hold = await held.take(id, name, callerOf(request).path, signal);
          if (signal.aborted) await hold.release();
          return reply.code(201).send({ hold: hold.id, seconds: held.seconds });
        });
      },
  },
  renewSyncHold: {
    ...TAKES_NAME,
    method: 'PUT',
    path: HOLD_PATH,
    summary: 'Keep the hold of a sync',
    success: [{ status: 200, description: 'The hold goes on', schema: 'SyncHold' }],
    errors: ['hold_lost'],
    handler:
      ({ held }) =>
      async (request) => {
        const hold = heldOf(request, held);
        await held.renew(databaseOf(request), hold);
        return { hold: hold.id, seconds: held.seconds };
      },
  },
  releaseSyncHold: {
    ...TAKES_NAME,
    method: 'DELETE',
    path: HOLD_PATH,
    summary: 'Release the hold of a sync',
    success: [{ status: 204, description: 'Another runner may make passes' }],
    errors: ['hold_lost'],
    handler:
      ({ held, timeouts }) =>
      async (request, reply) => {
        const hold = heldOf(request, held);
        await withTimeout(request, timeouts.responseMs, () => hold.release());
        return reply.code(204).send();
      },
  },
  upsertSyncRecords: {
    ...TAKES_NAME,
    method: 'POST',
    path: `${HOLD_PATH}/records`,
    summary: 'Write records of a sync',
    description:
      'As an upsert of NDJSON. Each record needs an identity. The records of the sync are those whose `key` begins with its ' +
      'name and `/`.',
    lines: 'NewRecord',
    query: LINES_QUERY,
    success: [
      {
        status: 200,
        description: 'What became of the lines',
        schema: 'LineEvent',
        type: 'application/x-ndjson',
      },
    ],
    errors: ['hold_lost', 'invalid_time', ...MODEL_ERRORS, ...WRITE_ERRORS],
    kind: 'writes',
    handler: (dependencies) => async (request, reply) => {
      const { read_at: text } = request.query as Values<typeof LINES_QUERY>;
      const readAt = text === undefined ? undefined : instantOf(text);
      if (text !== undefined && readAt === undefined) {
        throw new CosiftError(
          'invalid_time',
          'the query parameter "read_at" is not ISO 8601 with Z or an offset',
        );
      }
      const hold = heldOf(request, dependencies.held);
      const milliseconds = readAt === undefined ? Date.now() : Number(readAt / 1_000_000n);
      return sendLines(dependencies, request, reply, (_id, chunks, options) =>
        hold.upsert(chunks, milliseconds, options),
      );
    },
  },
  commitSync: {
    ...TAKES_NAME,
    method: 'POST',
    path: `${HOLD_PATH}/commit`,
    summary: 'Delete records of a sync, and store where its runner continues',
    description: 'Both are one commit. With more records than `max`, nothing is done.',
    body: 'SyncCommit',
    success: [{ status: 200, description: 'The number of deleted records', schema: 'DeleteResult' }],
    errors: ['hold_lost', 'deletion_refused', ...WRITE_ERRORS],
    kind: 'writes',
    handler:
      ({ held, keys, timeouts }) =>
      async (request, reply) => {
        const commit = checkSyncCommit(request.body);
        const hold = heldOf(request, held);
        return await withAbortAndTimeout(request, reply, timeouts.writeMs, async ({ signal }) => ({
          deleted: await hold.commit(nameOf(request), commit, optionsOf(request, keys, signal)),
        }));
      },
  },
};

function nameOf(request: FastifyRequest): string {
  refuseFiltered(request, 'run syncs');
  const { name } = request.params as { name: string };
  if (DATABASE_ID.test(name)) return name;
  throw new CosiftError('invalid_request', 'the name of a sync is 1 to 64 of a-z 0-9 _ -');
}

function heldOf(request: FastifyRequest, held: HeldSyncs): HeldSync {
  const name = nameOf(request);
  const { hold } = request.params as { hold: string };
  return held.find(databaseOf(request), name, hold);
}
