import { checkWebhookRequest } from '../../schema/index.js';
import { callerOf, databaseOf } from '../admission/access.js';
import type { Dependencies, Handlers } from './dependencies.js';

export function webhookHandlers({ backend, webhooks }: Dependencies): Handlers {
  return {
    async createWebhook(request, reply) {
      const wanted = checkWebhookRequest(request.body);
      return reply.code(201).send(await webhooks.create(databaseOf(request), wanted, callerOf(request)));
    },

    async listWebhooks(request) {
      const database = databaseOf(request);
      // Throws `database_not_found`, which an empty list would hide.
      await backend.databaseJson(database, { caller: callerOf(request).path });
      return { webhooks: await webhooks.list(database) };
    },

    async deleteWebhook(request, reply) {
      const { webhook_id } = request.params as { webhook_id: string };
      await webhooks.delete(databaseOf(request), webhook_id);
      return reply.code(204).send();
    },
  };
}
