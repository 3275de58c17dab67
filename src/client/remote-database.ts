import { Database } from '../api/database.js';
import type { CallOptions } from '../api/index.js';
import { refuseMore } from '../api/refuse-more.js';
import { requestCall } from '../api/requests.js';
import { checkOptions } from '../schema/options.js';
import type {
  Columns,
  CreatedWebhook,
  Data,
  WebhookDescription,
  WebhookRequest,
} from '../schema/public-types.js';
import { HttpPort } from './http-port.js';
import { SHAPES } from './response-shapes.js';
import type { Transport } from './transport.js';

/** One database of a service, with its webhooks. */
export class RemoteDatabase<T extends Columns<T> = Data> extends Database<T> {
  static {
    refuseMore(RemoteDatabase);
  }

  readonly #transport: Transport;
  readonly #webhooksPath: string;

  /** @internal Made by `Client`. */
  constructor(transport: Transport, id: string) {
    const path = `/databases/${encodeURIComponent(id)}`;
    super(id, new HttpPort(transport, path));
    this.#transport = transport;
    this.#webhooksPath = `${path}/webhooks`;
  }

  /** Creates a webhook to which changes are posted. `secret` of the result signs them and is shown only here. */
  async createWebhook(request: WebhookRequest, options?: CallOptions): Promise<CreatedWebhook> {
    return requestCall(request, 'the request', options).run(({ request }, options) =>
      this.#transport.json('POST', this.#webhooksPath, SHAPES.createdWebhook, request, options),
    );
  }

  /** Returns the webhooks of this database with their positions in the change feed. */
  async webhooks(options?: CallOptions): Promise<WebhookDescription[]> {
    type List = { webhooks: WebhookDescription[] };
    return (await this.#transport.json<List>('GET', this.#webhooksPath, SHAPES.webhooks, undefined, options))
      .webhooks;
  }

  /** Deletes a webhook: nothing more is posted to it. */
  async deleteWebhook(webhookId: string, options?: CallOptions): Promise<void> {
    checkOptions('named', { id: webhookId });
    await this.#transport.delete(`${this.#webhooksPath}/${encodeURIComponent(webhookId)}`, options);
  }
}
