import { onTestFinished } from 'vitest';
import { EmbeddingsServer } from './embeddings-server.js';

/** The model `first`: a server that responds to a number of requests at a time, each for 32 texts at most. */
export class HeldModel {
  readonly #endpoint: EmbeddingsServer;
  readonly #waiting = new Set<() => void>();
  #left = Number.POSITIVE_INFINITY;
  #onRequest: (() => void)[] = [];

  private constructor(endpoint: EmbeddingsServer) {
    this.#endpoint = endpoint;
    endpoint.always = (request, response) => {
      const respond = () => EmbeddingsServer.vectors(request, response);
      this.#waiting.add(respond);
      response.on('close', () => this.#waiting.delete(respond));
      this.#respond();
      for (const resolve of this.#onRequest.splice(0)) resolve();
    };
  }

  static async start(): Promise<HeldModel> {
    const endpoint = await EmbeddingsServer.start();
    onTestFinished(() => endpoint.stop());
    return new HeldModel(endpoint);
  }

  get source(): string {
    return this.#endpoint.source();
  }

  get setting(): string {
    return `first=${this.source}`;
  }

  /** Responds to `requests` requests, those that wait included. Later ones wait. */
  allow(requests: number): void {
    this.#left = requests;
    this.#respond();
  }

  /** The texts of each request so far, those that wait included. */
  get requests(): readonly (readonly string[])[] {
    return this.#endpoint.requests.map(({ body }) => body.input);
  }

  /** The number of requests that wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Resolves once a request waits. */
  async untilWaiting(): Promise<void> {
    while (this.waiting === 0) await new Promise<void>((resolve) => this.#onRequest.push(resolve));
  }

  #respond(): void {
    for (const respond of [...this.#waiting].slice(0, this.#left)) {
      this.#left -= 1;
      this.#waiting.delete(respond);
      respond();
    }
  }
}
