/** cosift over HTTP: typed requests to a running service, without the native module and the model. */

export * from '../api/index.js';
export type {
  Action,
  CreatedWebhook,
  IssuedKey,
  KeyDescription,
  KeyRequest,
  NewRecord,
  WebhookDelivery,
  WebhookDescription,
  WebhookRequest,
} from '../schema/public-types.js';
export { Client } from './client.js';
export type { RemoteDatabase } from './remote-database.js';
export type { ClientOptions } from './transport.js';
