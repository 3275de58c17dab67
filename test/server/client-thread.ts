import { Worker } from 'node:worker_threads';

/** Sends requests from a thread of its own, so that its work is no part of the turns of this thread. */
export class ClientThread {
  readonly #url: string;
  readonly #key: string;
  readonly #worker = new Worker(
    `const { parentPort } = require('node:worker_threads');
    const http = require('node:http');
    const send = ({ url, method, headers, body }) => new Promise((resolve) => {
      const request = http.request(url, { method, headers, agent: false }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode));
      });
      request.end(body);
    });
    parentPort.on('message', async ({ count, ...request }) => {
      const statuses = await Promise.all(Array.from({ length: count }, () => send(request)));
      parentPort.postMessage(statuses.at(-1));
    });`,
    { eval: true },
  );

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  /** Sends a request, `count` times at once; returns the status of the last one. */
  send(method: string, target: string, body?: string, count = 1): Promise<number> {
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const headers = { 'x-api-key': this.#key, ...type };
    const status = new Promise<number>((resolve) => this.#worker.once('message', resolve));
    this.#worker.postMessage({ url: this.#url + target, method, headers, body, count });
    return status;
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}
