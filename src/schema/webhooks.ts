import { epoch } from './changes.js';
import { creatorId, shortId } from './ids.js';
import type { WebhookDescription } from './types/responses.js';

export const url = {
  type: 'string',
  pattern: '^https?://[^\\s]+$',
  maxLength: 2048,
  description:
    'Changes are posted to this URL. A response with status 2xx acknowledges them; redirects are not followed. ' +
    'It has no user name and no password. ' +
    'Its host must have a public address, unless the operator allows others.',
} as const;

const position = {
  type: 'integer',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Position of the last change of the delivery.',
} as const;

export const webhookRequest = {
  type: 'object',
  description: 'A webhook to create.',
  required: ['url'],
  additionalProperties: false,
  properties: {
    url,
    after: {
      ...position,
      description: 'Position of the change feed after which deliveries start. Default: the current position.',
    },
  },
  examples: [{ url: 'https://example.org/cosift' }],
} as const;

const described = {
  webhook_id: { ...shortId, description: 'Id of the webhook.' },
  url,
  position: { ...position, description: 'Position of the last acknowledged change.' },
  failures: { type: 'integer', minimum: 0, description: 'Failed attempts of the next delivery so far.' },
  last_failure: {
    type: 'string',
    enum: ['unreachable', 'rejected'],
    description:
      'Why the last attempt failed: `rejected` for a response other than 2xx, `unreachable` for every other cause. ' +
      'The log of the service has the details.',
  },
  created_at: { type: 'string', format: 'date-time', description: 'When the webhook was created.' },
  created_by: {
    ...creatorId,
    description: 'Id of the key that created the webhook, which ends with that key.',
  },
} as const;

export const webhookDescription = {
  type: 'object',
  description: 'A webhook without its secret.',
  required: ['webhook_id', 'url', 'position', 'failures', 'created_at', 'created_by'],
  additionalProperties: false,
  properties: described,
} as const;

export const createdWebhook = {
  type: 'object',
  description: 'A new webhook with its secret.',
  required: ['webhook_id', 'url', 'position', 'failures', 'created_at', 'created_by', 'secret'],
  additionalProperties: false,
  properties: {
    ...described,
    secret: { type: 'string', description: 'Signs the deliveries. It is shown only here.' },
  },
} as const;

export const webhookList = {
  type: 'object',
  description: 'The webhooks of a database.',
  required: ['webhooks'],
  additionalProperties: false,
  properties: {
    webhooks: {
      type: 'array',
      items: { $ref: '#/components/schemas/WebhookDescription' },
      description: 'Without their secrets.',
    },
  },
} as const;

export const webhookDelivery = {
  type: 'object',
  description: 'The body of a delivery to a webhook.',
  required: ['database', 'epoch', 'changes', 'position'],
  additionalProperties: false,
  properties: {
    database: { type: 'string', description: 'Id of the database.' },
    epoch,
    changes: {
      type: 'array',
      items: { $ref: '#/components/schemas/Change' },
      description: 'Oldest first.',
    },
    position,
  },
} as const;

/** Why the last attempt to deliver changes failed. */
export type DeliveryFailure = NonNullable<WebhookDescription['last_failure']>;
