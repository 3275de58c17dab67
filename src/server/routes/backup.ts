import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { LinkedAbort } from '../../async/linked-abort.js';
import { CosiftError } from '../../errors.js';
import { DATABASE_ID } from '../../schema/index.js';
import { callerOf, checkKeyAgain } from '../admission/access.js';
import { onClose } from '../http/on-close.js';
import type { KeyStore } from '../keys/key-store.js';
import type { Dependencies, Handlers } from './dependencies.js';

export function backupHandlers({ backend, inFlight, keys }: Dependencies): Handlers {
  return {
    async backup(request, reply) {
      checkMayBackUp(request);
      const database = databaseOf(request);
      reply.header('content-type', 'application/x-tar');
      if (request.method === 'HEAD') {
        if (database !== undefined) await backend.databaseJson(database);
        return reply.send();
      }
      const gone = new AbortController();
      const stop = new LinkedAbort(inFlight.closing, gone.signal);
      const releaseRequest = request.resources?.hold();
      onClose(request, reply, () => {
        gone.abort(new CosiftError('stopped', 'the caller went away'));
        stop.unlink();
        releaseRequest?.();
      });
      const { bytes, chunks, release } = await backend.backup(database, stop.signal);
      onClose(request, reply, () => {
        release().catch((err: unknown) =>
          request.log.error({ err }, 'the files of a backup cannot be removed'),
        );
      });
      reply.header('content-length', String(bytes));
      return reply.send(Readable.from(checked(keys, request, chunks), { objectMode: false }));
    },
  };
}

/** Yields `chunks` as long as the key may make a backup: it may be revoked or expire meanwhile. */
async function* checked(
  keys: KeyStore,
  request: FastifyRequest,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    await checkKeyAgain(keys, request);
    checkMayBackUp(request);
    yield chunk;
  }
}

/** An archive has all records and the secrets of webhooks, so it is for keys that may do everything anyway. */
function checkMayBackUp(request: FastifyRequest): void {
  const { actions, databases } = callerOf(request);
  if (!actions.has('keys.manage')) throw new CosiftError('forbidden', 'the key lacks the action keys.manage');
  if (databases !== undefined) {
    throw new CosiftError('forbidden', 'a key that is limited to some databases cannot make a backup');
  }
}

function databaseOf(request: FastifyRequest): string | undefined {
  const { database } = request.query as { database?: string };
  if (database === undefined || DATABASE_ID.test(database)) return database;
  throw new CosiftError('invalid_request', 'the query parameter "database" must be 1 to 64 of a-z 0-9 _ -');
}
