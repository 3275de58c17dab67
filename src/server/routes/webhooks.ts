import { checkWebhookRequest } from '../../schema/index.js';
import { callerOf, databaseOf } from '../admission/access.js';
import type { Dependencies, Handlers } from './dependencies.js';

export function webhookHandlers({ backend, webhooks }: Dependencies): Handlers {
  return {
    async createWebhook(request, reply) {
      const wanted = checkWebhookRequest(request.body, request.bodyBytes);
      return reply
        .code(201)
        .send(await webhooks.create(databaseOf(request), wanted, callerOf(request).keyId));
    },

    async listWebhooks(request) {
      const database = databaseOf(request);
      // A database that is not there has no webhooks, but that is not what the caller should read.
      await backend.describeDatabase(database, { caller: callerOf(request).keyId });
      return { webhooks: webhooks.list(database) };
    },

    async deleteWebhook(request, reply) {
      const { webhook_id } = request.params as { webhook_id: string };
      await webhooks.delete(databaseOf(request), webhook_id);
      return reply.code(204).send();
    },
  };
}
