import type { FastifyRequest } from 'fastify';
import { CosiftError } from '../../errors.js';
import { checkSyncConfirmation } from '../../schema/index.js';
import type { FollowedSync, FollowedSyncs } from '../../sync/followed-syncs.js';
import { callerOf, sees } from '../admission/access.js';
import { withTimeout } from '../admission/deadlines.js';
import type { Resource } from './resource.js';

export const SYNC: Resource = {
  listSyncs: {
    method: 'GET',
    path: '/v1/sync',
    tag: 'Databases',
    summary: 'Show how far the sources are that databases are kept in step with',
    description:
      'These are the sources of the config file of the service, which `cosift serve` follows. They cannot be changed by a ' +
      'request.',
    actions: ['databases.manage'],
    success: [{ status: 200, description: 'The sources', schema: 'SyncList' }],
    kind: 'reads',
    handler:
      ({ syncs, timeouts }) =>
      async (request) => {
        const shown = visible(request, syncs);
        const described = () => Promise.all(shown.map((sync) => sync.describe()));
        return { syncs: await withTimeout(request, timeouts.responseMs, described) };
      },
  },
  reconcileSync: {
    method: 'POST',
    path: '/v1/sync/{name}/reconcile',
    tag: 'Databases',
    summary: 'Compare all rows of a source now',
    description:
      'The next pass reads all rows, and mends what differs. It is in the list of sources as `requested` until it is complete.',
    actions: ['databases.manage'],
    success: [{ status: 202, description: 'The state of the source', schema: 'SyncDescription' }],
    errors: ['sync_not_found', 'source_unavailable'],
    kind: 'writes',
    handler:
      ({ syncs, timeouts }) =>
      async (request, reply) => {
        const sync = found(request, syncs);
        sync.request('reconcile');
        return reply.code(202).send(await withTimeout(request, timeouts.responseMs, () => sync.describe()));
      },
  },
  confirmSync: {
    method: 'POST',
    path: '/v1/sync/{name}/confirm',
    tag: 'Databases',
    summary: 'Delete the records that were withheld',
    description:
      'The next pass reads all rows, and deletes what the source lacks. If it lacks more than was shown, the deletions are ' +
      'withheld again.',
    actions: ['databases.manage'],
    body: 'SyncConfirmation',
    bodyOptional: true,
    success: [{ status: 202, description: 'The state of the source', schema: 'SyncDescription' }],
    errors: ['sync_not_found', 'source_unavailable'],
    kind: 'writes',
    handler:
      ({ syncs, timeouts }) =>
      async (request, reply) => {
        const { withheld } = checkSyncConfirmation(request.body === undefined ? {} : request.body);
        const sync = found(request, syncs);
        sync.request('confirm', withheld);
        return reply.code(202).send(await withTimeout(request, timeouts.responseMs, () => sync.describe()));
      },
  },
};

/** The sources whose databases the caller may see. */
function visible(request: FastifyRequest, syncs: FollowedSyncs): FollowedSync[] {
  const caller = callerOf(request);
  return syncs.all.filter(({ database }) => sees(caller, database));
}

/** The same error for a source that is not followed and for one of a database that the caller may not see. */
function found(request: FastifyRequest, syncs: FollowedSyncs): FollowedSync {
  const { name } = request.params as { name: string };
  const sync = visible(request, syncs).find((one) => one.name === name);
  if (sync !== undefined) return sync;
  throw new CosiftError(
    'sync_not_found',
    `this service follows no source "${name}"; it follows those of the member sync of its config file`,
  );
}
