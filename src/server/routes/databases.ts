import { setImmediate } from 'node:timers/promises';
import { FairLimiter } from '../../async/fair-limiter.js';
import { checkDatabaseSettings, checkReembeddingRequest } from '../../schema/index.js';
import { callerOf, databaseOf, refuseFiltered, sees } from '../admission/access.js';
import { withTimeout } from '../admission/deadlines.js';
import { sendWithTag } from '../http/etag.js';
import { JSON_TYPE } from '../http/send-json.js';
import type { Dependencies, Handlers } from './dependencies.js';

export function databaseHandlers({ backend, webhooks, timeouts }: Dependencies): Handlers {
  const { responseMs, writeMs } = timeouts;
  const writing = new FairLimiter({ total: 1, perCaller: 1 });
  /** Many databases take milliseconds to write: other requests run in between. */
  const write = (caller: string, value: unknown) =>
    writing.run(caller, async () => {
      await setImmediate();
      return JSON.stringify(value);
    });
  return {
    async createDatabase(request, reply) {
      const settings = checkDatabaseSettings(request.body === undefined ? {} : request.body);
      const id = databaseOf(request);
      const { created, database } = await withTimeout(request, writeMs, () =>
        backend.createDatabase(id, settings),
      );
      return reply.code(created ? 201 : 200).send(database);
    },

    async listDatabases(request, reply) {
      refuseFiltered(request, 'describe databases');
      const caller = callerOf(request);
      const list = async () => {
        const databases = await backend.listDatabases({ caller: caller.path });
        return await write(caller.path, { databases: databases.filter(({ id }) => sees(caller, id)) });
      };
      const json = await withTimeout(request, responseMs, list);
      return reply.header('content-type', JSON_TYPE).send(json);
    },

    async describeDatabase(request, reply) {
      refuseFiltered(request, 'describe databases');
      const id = databaseOf(request);
      const { path: caller } = callerOf(request);
      const describe = () => backend.databaseJson(id, { caller });
      const json = await withTimeout(request, responseMs, describe);
      reply.header('cache-control', 'private, no-cache');
      return sendWithTag(request, reply, json, JSON_TYPE);
    },

    async startReembedding(request, reply) {
      const { model } = checkReembeddingRequest(request.body);
      const id = databaseOf(request);
      const started = await withTimeout(request, writeMs, () => backend.startReembedding(id, model));
      return reply.code(202).send(started);
    },

    async readReembedding(request) {
      refuseFiltered(request, 'describe databases');
      return backend.reembedding(databaseOf(request));
    },

    async cancelReembedding(request, reply) {
      const id = databaseOf(request);
      await withTimeout(request, writeMs, () => backend.cancelReembedding(id));
      return reply.code(204).send();
    },

    async dropDatabase(request, reply) {
      const id = databaseOf(request);
      await withTimeout(request, writeMs, async () => {
        await backend.dropDatabase(id);
        await webhooks.deleteOf(id);
      });
      return reply.code(204).send();
    },
  };
}
