import { type Operation, WRITE_ERRORS } from './operation.js';

export const WEBHOOKS_OPERATIONS = {
  createWebhook: {
    method: 'POST',
    path: '/v1/databases/{id}/webhooks',
    tag: 'Records',
    summary: 'Have changes posted to a URL',
    description:
      'Each delivery is a `WebhookDelivery`, signed as Standard Webhooks says, in the order of the change feed, ' +
      'and repeated with growing pauses until it is taken.',
    actions: ['databases.manage'],
    body: 'WebhookRequest',
    success: [
      { status: 201, description: 'The webhook, whose secret is shown this once', schema: 'CreatedWebhook' },
    ],
    errors: WRITE_ERRORS,
    kind: 'writes',
  },
  listWebhooks: {
    method: 'GET',
    path: '/v1/databases/{id}/webhooks',
    tag: 'Records',
    summary: 'List the webhooks of a database and how far each has come',
    actions: ['databases.manage'],
    success: [{ status: 200, description: 'The webhooks', schema: 'WebhookList' }],
    kind: 'reads',
  },
  deleteWebhook: {
    method: 'DELETE',
    path: '/v1/databases/{id}/webhooks/{webhook_id}',
    tag: 'Records',
    summary: 'End a webhook',
    actions: ['databases.manage'],
    success: [{ status: 204, description: 'It is gone' }],
    errors: ['webhook_not_found', ...WRITE_ERRORS],
  },
} as const satisfies Record<string, Operation>;
