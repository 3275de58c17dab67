/** cosift over HTTP: typed requests to a running service, with nothing but `fetch`. */

export * from '../common.js';
export type {
  CreatedWebhook,
  IssuedKey,
  KeyDescription,
  KeyRequest,
  NewRecord,
  WebhookDescription,
  WebhookRequest,
} from '../schema/index.js';
export { Client } from './client.js';
export { Database, type PageOf, type RecordOf } from './database.js';
export type { CallOptions, ClientOptions } from './transport.js';
