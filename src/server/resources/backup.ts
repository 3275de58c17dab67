import type { FastifyRequest } from 'fastify';
import { CosiftError } from '../../errors.js';
import { DATABASE_ID } from '../../schema/index.js';
import { callerOf, checkKeyAgain } from '../admission/access.js';
import { matching, type Values } from '../http/query-parameters.js';
import { sendStream } from '../http/streamed-response.js';
import type { Resource } from './resource.js';

const TAR = 'application/x-tar';

const BACKUP_QUERY = {
  database: matching(
    { type: 'string', pattern: DATABASE_ID.source },
    'Id or alias of the only database to archive, without keys and webhooks.',
    '1 to 64 of a-z 0-9 _ -',
  ),
};

export const BACKUP: Resource = {
  backup: {
    method: 'GET',
    path: '/v1/backup',
    tag: 'Service',
    summary: 'Archive of all databases, keys and webhooks, as they are at one moment',
    description:
      'Needs a key with the actions `databases.manage` and `keys.manage` for all databases. ' +
      'A response that has fewer bytes than its `content-length` is not complete.',
    actions: ['databases.manage'],
    query: BACKUP_QUERY,
    success: [{ status: 200, description: 'A tar archive for `cosift restore`', type: TAR }],
    errors: ['database_not_found', 'disk_full', 'store_failed'],
    kind: 'reads',
    handler:
      ({ databases, inFlight, keys }) =>
      async (request, reply) => {
        checkMayBackUp(request);
        const { database: name } = request.query as Values<typeof BACKUP_QUERY>;
        const database = name && (await databases.aliases.resolve(name));
        if (request.method === 'HEAD') {
          if (database !== undefined) await databases.catalog.check(database);
          return reply.header('content-type', TAR).send();
        }
        async function* chunksOf(signal: AbortSignal): AsyncGenerator<Uint8Array> {
          const { bytes, chunks, release } = await databases.backups.begin(database, signal);
          try {
            reply.header('content-length', String(bytes));
            yield* chunks;
          } finally {
            await release().catch((err: unknown) =>
              request.log.error({ err }, 'the files of a backup cannot be removed'),
            );
          }
        }
        return sendStream(request, reply, inFlight.closing, {
          type: TAR,
          open: chunksOf,
          check: async () => {
            await checkKeyAgain(keys, request);
            checkMayBackUp(request);
          },
        });
      },
  },
};

/** An archive has all records and the secrets of webhooks, so it is for keys that may do everything anyway. */
function checkMayBackUp(request: FastifyRequest): void {
  const { actions, databases } = callerOf(request);
  if (!actions.has('keys.manage')) throw new CosiftError('forbidden', 'the key lacks the action keys.manage');
  if (databases !== undefined) {
    throw new CosiftError('forbidden', 'a key that is limited to some databases cannot make a backup');
  }
}
