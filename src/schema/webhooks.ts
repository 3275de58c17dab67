import { epoch } from './changes.js';
import { creatorId, shortId } from './ids.js';
import { count, instant, list, object, oneOf, ref, text } from './json-schema.js';
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

export const webhookRequest = object(
  'A webhook to create.',
  {
    url,
    'after?': {
      ...position,
      description: 'Position of the change feed after which deliveries start. Default: the current position.',
    },
  },
  { examples: [{ url: 'https://example.org/cosift' }] },
);

const described = {
  webhook_id: { ...shortId, description: 'Id of the webhook.' },
  url,
  position: { ...position, description: 'Position of the last acknowledged change.' },
  failures: count('Failed attempts of the next delivery so far.'),
  'last_failure?': oneOf(
    ['unreachable', 'rejected'],
    'Why the last attempt failed: `rejected` for a response other than 2xx, `unreachable` for every other cause. ' +
      'The log of the service has the details.',
  ),
  created_at: instant('When the webhook was created.'),
  created_by: {
    ...creatorId,
    description: 'Id of the key that created the webhook, which ends with that key.',
  },
};

export const webhookDescription = object('A webhook without its secret.', described);

export const createdWebhook = object('A new webhook with its secret.', {
  ...described,
  secret: text('Signs the deliveries. It is shown only here.'),
});

export const webhookList = object('The webhooks of a database.', {
  webhooks: list(ref('WebhookDescription'), 'Without their secrets.'),
});

export const webhookDelivery = object('The body of a delivery to a webhook.', {
  database: text('Id of the database.'),
  epoch,
  changes: list(ref('Change'), 'Oldest first.'),
  position,
});

/** Why the last attempt to deliver changes failed. */
export type DeliveryFailure = NonNullable<WebhookDescription['last_failure']>;
