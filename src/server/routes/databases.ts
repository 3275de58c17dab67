import { checkDatabaseSettings, checkReembeddingRequest } from '../../schema/index.js';
import { callerOf, databaseOf, refuseFiltered, sees } from '../access.js';
import type { Handlers, Services } from '../services.js';

export function databaseHandlers({ backend, webhooks }: Services): Handlers {
  return {
    async createDatabase(request, reply) {
      const settings = checkDatabaseSettings(
        request.body === undefined ? {} : request.body,
        request.bodyBytes,
      );
      const { created, database } = await backend.createDatabase(databaseOf(request), settings);
      return reply.code(created ? 201 : 200).send(database);
    },

    async listDatabases(request) {
      refuseFiltered(request, 'describe databases');
      const caller = callerOf(request);
      const databases = await backend.listDatabases();
      return { databases: databases.filter(({ id }) => sees(caller, id)) };
    },

    async describeDatabase(request) {
      refuseFiltered(request, 'describe databases');
      return backend.describeDatabase(databaseOf(request));
    },

    async startReembedding(request, reply) {
      const { model } = checkReembeddingRequest(request.body, request.bodyBytes);
      return reply.code(202).send(await backend.startReembedding(databaseOf(request), model));
    },

    async readReembedding(request) {
      refuseFiltered(request, 'describe databases');
      return backend.reembedding(databaseOf(request));
    },

    async cancelReembedding(request, reply) {
      await backend.cancelReembedding(databaseOf(request));
      return reply.code(204).send();
    },

    async dropDatabase(request, reply) {
      const id = databaseOf(request);
      await backend.dropDatabase(id);
      await webhooks.endOf(id);
      return reply.code(204).send();
    },
  };
}
