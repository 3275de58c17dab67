import { checkWebhookRequest } from '../../schema/index.js';
import { callerOf, databaseOf } from '../admission/access.js';
import { WRITE_ERRORS } from '../operation.js';
import type { Resource } from './resource.js';

export const WEBHOOKS: Resource = {
  createWebhook: {
    method: 'POST',
    path: '/v1/databases/{id}/webhooks',
    tag: 'Records',
    summary: 'Create a webhook, which posts changes to a URL',
    description:
      'Each delivery is a `WebhookDelivery`, signed according to Standard Webhooks. Deliveries are in the order of the ' +
      'change feed. A failed one is repeated with growing pauses until it is acknowledged.',
    actions: ['databases.manage'],
    body: 'WebhookRequest',
    showsSecret: true,
    success: [
      {
        status: 201,
        description: 'The webhook with its secret, which is shown only here',
        schema: 'CreatedWebhook',
      },
    ],
    errors: ['feed_restarted', 'changes_removed', ...WRITE_ERRORS],
    kind: 'writes',
    handler:
      ({ webhooks }) =>
      async (request, reply) => {
        const wanted = checkWebhookRequest(request.body);
        return reply.code(201).send(await webhooks.create(databaseOf(request), wanted, callerOf(request)));
      },
  },
  listWebhooks: {
    method: 'GET',
    path: '/v1/databases/{id}/webhooks',
    tag: 'Records',
    summary: 'List the webhooks of a database with their positions',
    actions: ['databases.manage'],
    success: [{ status: 200, description: 'The webhooks', schema: 'WebhookList' }],
    kind: 'reads',
    handler:
      ({ databases, webhooks }) =>
      async (request) => {
        const database = databaseOf(request);
        // Throws `database_not_found`, which an empty list would hide.
        await databases.catalog.check(database);
        return { webhooks: await webhooks.list(database) };
      },
  },
  deleteWebhook: {
    method: 'DELETE',
    path: '/v1/databases/{id}/webhooks/{webhook_id}',
    tag: 'Records',
    summary: 'Delete a webhook',
    actions: ['databases.manage'],
    success: [{ status: 204, description: 'The webhook is deleted' }],
    errors: ['webhook_not_found', ...WRITE_ERRORS],
    handler:
      ({ webhooks }) =>
      async (request, reply) => {
        const { webhook_id } = request.params as { webhook_id: string };
        await webhooks.delete(databaseOf(request), webhook_id);
        return reply.code(204).send();
      },
  },
};
