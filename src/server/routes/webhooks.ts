import { checkWebhookRequest } from '../../schema/index.js';
import { databaseOf } from '../access.js';
import type { Handlers, Services } from '../services.js';

export function webhookHandlers({ webhooks }: Services): Handlers {
  return {
    async createWebhook(request, reply) {
      const wanted = checkWebhookRequest(request.body, request.bodyBytes);
      return reply.code(201).send(await webhooks.create(databaseOf(request), wanted));
    },

    async listWebhooks(request) {
      return { webhooks: webhooks.list(databaseOf(request)) };
    },

    async deleteWebhook(request, reply) {
      const { webhook_id } = request.params as { webhook_id: string };
      await webhooks.delete(databaseOf(request), webhook_id);
      return reply.code(204).send();
    },
  };
}
