import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect } from 'vitest';
import { checkSchema } from '../../src/schema/index.js';

interface Delivery {
  id: string;
  // biome-ignore lint/suspicious/noExplicitAny: whatever was posted
  body: any;
  signed: boolean;
}

/** Retries follow at once. The limit of a response is one that no pause of the machine reaches: a post counts once. */
export const DELIVERY_TIMES = { responseMs: 600_000, firstRetryMs: 5, maxRetryMs: 50 };

/** A webhook receiver that refuses the first `refusals` posts and accepts the others. */
export class Receiver {
  readonly #server: Server;
  readonly #connections = new Set<Socket>();
  readonly deliveries: Delivery[] = [];
  refusals: number;
  posts = 0;
  secret = '';

  constructor(refusals = 0) {
    this.refusals = refusals;
    this.#server = createServer(async (request, response) => {
      let text = '';
      for await (const chunk of request) text += chunk;
      this.posts += 1;
      if (this.refusals > 0) {
        this.refusals -= 1;
        response.writeHead(500).end();
        return;
      }
      const id = String(request.headers['webhook-id']);
      const key = Buffer.from(this.secret.replace('whsec_', ''), 'base64');
      const signature = createHmac('sha256', key)
        .update(`${id}.${request.headers['webhook-timestamp']}.${text}`)
        .digest('base64');
      const body = JSON.parse(text);
      checkSchema('WebhookDelivery', body);
      this.deliveries.push({ id, body, signed: request.headers['webhook-signature'] === `v1,${signature}` });
      response.writeHead(204).end();
      this.#server.emit('accepted');
    });
    this.#server.on('connection', (connection: Socket) => {
      this.#connections.add(connection);
      connection.once('close', () => this.#connections.delete(connection));
    });
  }

  async listen(address = '127.0.0.1'): Promise<string> {
    this.#server.listen(0, address);
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  /** Resolves with all accepted changes, such as `created 1`, once there are `count`. */
  async changes(count: number): Promise<string[]> {
    const accepted = () =>
      this.deliveries.flatMap(({ body }) =>
        body.changes.map(({ kind, id }: { kind: string; id: number }) => `${kind} ${id}`),
      );
    while (accepted().length < count) await once(this.#server, 'accepted');
    return accepted();
  }

  /** Resolves once the posts that have begun so far are counted. Each post has its own connection. */
  async idle(): Promise<void> {
    // Connections are accepted in the order in which they are made.
    const last = connect((this.#server.address() as AddressInfo).port, '127.0.0.1');
    await once(last, 'connect');
    const isAccepted = () => [...this.#connections].some(({ remotePort }) => remotePort === last.localPort);
    await expect.poll(isAccepted).toBe(true);
    last.destroy();
    await expect.poll(() => this.#connections.size).toBe(0);
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
