import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { CosiftError } from '../../errors.js';
import {
  checkDeleteRequest,
  isKeyReference,
  type LineFailure,
  parseJson,
  type RecordPatch,
  UUID,
} from '../../schema/index.js';
import { callerOf, checkKeyAgain, databaseOf, refuseFiltered, scopeOf } from '../admission/access.js';
import { withAbortAndTimeout, withTimeout } from '../admission/deadlines.js';
import { bodyChunks } from '../http/body-chunks.js';
import { sendJson } from '../http/send-json.js';
import { NDJSON, sendStream } from '../http/streamed-response.js';
import { negotiateById } from '../variants/variants.js';
import type { Dependencies, Handlers } from './dependencies.js';

export function recordHandlers({ backend, keys, limits, timeouts, inFlight }: Dependencies): Handlers {
  /** The key may have been revoked or have expired while the texts were embedded or the write waited. */
  const checked = (request: FastifyRequest) => ({ check: () => checkKeyAgain(keys, request) });
  return {
    async upsertRecords(request, reply) {
      refuseFiltered(request, 'upsert records');
      if (request.body === undefined) throw new CosiftError('invalid_request', 'the body is missing');
      const id = databaseOf(request);
      const { body } = request;
      if (!(body instanceof Uint8Array)) {
        // Nothing is read while the client does not read the response, and the lines end when none is completed for
        // `bodyMs`, so the stream always ends.
        return sendStream(request, reply, inFlight.closing, {
          type: NDJSON,
          open: (signal) => {
            const chunks = bodyChunks(body as Readable, timeouts.bodyMs, signal);
            return backend.upsertLines(id, chunks, {
              signal,
              caller: callerOf(request).path,
              ...checked(request),
            });
          },
          lastLine: (failure) => ({ type: 'error', ...failure }) satisfies LineFailure,
        });
      }
      return sendJson(
        reply,
        await withAbortAndTimeout(request, reply, timeouts.writeMs, ({ signal }) =>
          backend.upsertBatch(id, body, {
            signal,
            caller: callerOf(request).path,
            ...yielding(request),
            ...checked(request),
          }),
        ),
      );
    },

    async readRecord(request, reply) {
      const rid = recordIdOf(request);
      const id = databaseOf(request);
      const { form, type } = negotiateById(request, rid);
      const record = await withTimeout(request, timeouts.responseMs, () =>
        backend.record(id, String(rid), form, scopeOf(request)),
      );
      return sendJson(reply, record, type);
    },

    async patchRecord(request, reply) {
      // The record may be outside the filter, before the patch or after it.
      refuseFiltered(request, 'patch records');
      const rid = recordIdOf(request);
      if (!(request.body instanceof Uint8Array))
        throw new CosiftError('invalid_request', 'the body is missing');
      const patch = request.body;
      const id = databaseOf(request);
      const { path: caller, actions } = callerOf(request);
      const { form, type } = negotiateById(request, rid);
      const record = await withAbortAndTimeout(request, reply, timeouts.writeMs, ({ signal }) =>
        backend.patchRecord(id, String(rid), form, patch, {
          signal,
          caller,
          ...yielding(request),
          ...checked(request),
        }),
      );
      return actions.has('records.read')
        ? sendJson(reply, record, type)
        : reply.header('content-type', type).send(withColumnsOf(parseJson(patch), parseJson(record)));
    },

    async deleteRecord(request, reply) {
      const rid = recordIdOf(request);
      const id = databaseOf(request);
      const { deleted } = await withAbortAndTimeout(request, reply, timeouts.responseMs, ({ signal }) =>
        backend.deleteRecords(
          id,
          { ids: [rid] },
          { scope: scopeOf(request), signal, ...yielding(request), ...checked(request) },
        ),
      );
      if (deleted === 0) throw new CosiftError('record_not_found', `there is no record ${rid}`);
      return reply.code(204).send();
    },

    async deleteRecords(request, reply) {
      const deletion = checkDeleteRequest(request.body, limits);
      const id = databaseOf(request);
      return withAbortAndTimeout(request, reply, timeouts.responseMs, ({ signal }) =>
        backend.deleteRecords(id, deletion, {
          scope: scopeOf(request),
          signal,
          ...yielding(request),
          ...checked(request),
        }),
      );
    },
  };
}

/** Lets a write that waits for a re-embedding of its database give up its place among the writes of all databases. */
function yielding(request: FastifyRequest): { onWait: () => void } {
  return { onWait: () => request.resources?.yieldPlace() };
}

function recordIdOf(request: FastifyRequest): number | string {
  const { rid: text } = request.params as { rid: string };
  if (UUID.test(text)) return text.toLowerCase();
  if (isKeyReference(text)) return text;
  const id = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(id)) return id;
  throw new CosiftError(
    'invalid_request',
    'a record id in a path is an integer from 1, a UUID, or key: and a key of up to 512 bytes',
  );
}

/** Returns the record with only the columns of the patch. The caller knows these already. */
function withColumnsOf(patch: RecordPatch, record: Record<string, unknown>): object {
  const given = new Set(Object.keys(patch.data ?? {}));
  const data = Object.entries(record.data as object).filter(([column]) => given.has(column));
  return { ...record, data: Object.fromEntries(data) };
}
