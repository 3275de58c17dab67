import type { FastifyRequest } from 'fastify';
import { CosiftError } from '../../errors.js';
import { callerOf, checkKeyAgain } from '../admission/access.js';
import type { Values } from '../http/query-parameters.js';
import { sendStream } from '../http/streamed-response.js';
import type { BACKUP_QUERY } from '../operations/backup.js';
import type { Dependencies, Handlers } from './dependencies.js';

const TAR = 'application/x-tar';

export function backupHandlers({ backend, inFlight, keys }: Dependencies): Handlers {
  return {
    async backup(request, reply) {
      checkMayBackUp(request);
      const { database } = request.query as Values<typeof BACKUP_QUERY>;
      if (request.method === 'HEAD') {
        if (database !== undefined) await backend.databaseJson(database);
        return reply.header('content-type', TAR).send();
      }
      async function* chunksOf(signal: AbortSignal): AsyncGenerator<Uint8Array> {
        const { bytes, chunks, release } = await backend.backup(database, signal);
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
  };
}

/** An archive has all records and the secrets of webhooks, so it is for keys that may do everything anyway. */
function checkMayBackUp(request: FastifyRequest): void {
  const { actions, databases } = callerOf(request);
  if (!actions.has('keys.manage')) throw new CosiftError('forbidden', 'the key lacks the action keys.manage');
  if (databases !== undefined) {
    throw new CosiftError('forbidden', 'a key that is limited to some databases cannot make a backup');
  }
}
