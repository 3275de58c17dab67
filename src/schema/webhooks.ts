import { epoch } from './changes.js';
import type { TypeOf } from './type-of.js';

const url = {
  type: 'string',
  pattern: '^https?://[^\\s]+$',
  maxLength: 2048,
  description:
    'Where changes are posted to; any 2xx answer takes them, redirects are not followed. ' +
    'Its host has a public address, unless the operator allows others.',
} as const;

const position = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const;

export const webhookRequest = {
  type: 'object',
  required: ['url'],
  additionalProperties: false,
  properties: {
    url,
    after: {
      ...position,
      description: 'Position of the change feed to start after; absent: what comes from now.',
    },
  },
  examples: [{ url: 'https://example.org/cosift' }],
} as const;

const described = {
  webhook_id: { type: 'string', pattern: '^[0-9a-z]{12}$' },
  url,
  position: { ...position, description: 'The last change that was taken.' },
  failures: { type: 'integer', minimum: 0, description: 'Tries of the next delivery that failed so far.' },
  last_failure: {
    type: 'string',
    enum: ['unreachable', 'rejected'],
    description:
      'Why the last try failed: `rejected` by a response other than 2xx, or `unreachable` for every other cause. ' +
      'The log of the service has the cause.',
  },
  created_at: { type: 'string', format: 'date-time' },
  created_by: {
    type: 'string',
    pattern: '^([0-9a-z]{12}|admin)$',
    description:
      'Id of the key that created it: it ends with that key. Webhooks of earlier releases lack it.',
  },
} as const;

export const webhookDescription = {
  type: 'object',
  required: ['webhook_id', 'url', 'position', 'failures', 'created_at'],
  additionalProperties: false,
  properties: described,
} as const;

export const createdWebhook = {
  type: 'object',
  required: ['webhook_id', 'url', 'position', 'failures', 'created_at', 'secret'],
  additionalProperties: false,
  properties: {
    ...described,
    secret: { type: 'string', description: 'Signs the deliveries. It is shown this once.' },
  },
} as const;

export const webhookList = {
  type: 'object',
  required: ['webhooks'],
  additionalProperties: false,
  properties: {
    webhooks: { type: 'array', items: { $ref: '#/components/schemas/WebhookDescription' } },
  },
} as const;

/** What is posted. */
export const webhookDelivery = {
  type: 'object',
  required: ['database', 'epoch', 'changes', 'position'],
  additionalProperties: false,
  properties: {
    database: { type: 'string' },
    epoch,
    changes: { type: 'array', items: { $ref: '#/components/schemas/Change' } },
    position,
  },
} as const;

export type WebhookRequest = TypeOf<typeof webhookRequest>;
export type WebhookDescription = TypeOf<typeof webhookDescription>;
export type DeliveryFailure = NonNullable<WebhookDescription['last_failure']>;
export type CreatedWebhook = TypeOf<typeof createdWebhook>;

declare module './type-of.js' {
  interface NamedTypes {
    WebhookDescription: WebhookDescription;
  }
}
