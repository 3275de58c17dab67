import { type Operation, WRITE_ERRORS } from './operation.js';

export const WEBHOOKS_OPERATIONS = {
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
  },
  listWebhooks: {
    method: 'GET',
    path: '/v1/databases/{id}/webhooks',
    tag: 'Records',
    summary: 'List the webhooks of a database with their positions',
    actions: ['databases.manage'],
    success: [{ status: 200, description: 'The webhooks', schema: 'WebhookList' }],
    kind: 'reads',
  },
  deleteWebhook: {
    method: 'DELETE',
    path: '/v1/databases/{id}/webhooks/{webhook_id}',
    tag: 'Records',
    summary: 'Delete a webhook',
    actions: ['databases.manage'],
    success: [{ status: 204, description: 'The webhook is deleted' }],
    errors: ['webhook_not_found', ...WRITE_ERRORS],
  },
} as const satisfies Record<string, Operation>;
