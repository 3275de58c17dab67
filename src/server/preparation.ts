import type { DatabaseService, Readiness } from '../databases/index.js';
import type { Logger } from './observability/log-stream.js';

/** What happens between the start of a server and its first request, and why requests are not served meanwhile. */
export class Preparation {
  readonly #databases: DatabaseService;
  /** undefined once requests are served. */
  #step: string | undefined = 'the service is being prepared';

  constructor(databases: DatabaseService) {
    this.#databases = databases;
  }

  readiness(): Readiness {
    const state = this.#databases.readiness();
    if (!state.ready || this.#step === undefined) return state;
    return { ready: false, reasons: [this.#step] };
  }

  /** Waits for the databases, loads the models, and runs `beforeServing`. Requests are served once it resolves. */
  async run(log: Logger, beforeServing: () => Promise<void>): Promise<void> {
    await this.#databases.ready;
    this.#step = 'models are being loaded';
    for (const { model, error } of await this.#databases.catalog.loadModels())
      log.error({ model, err: error }, 'model not loaded');
    this.#step = 'the service is being prepared';
    await beforeServing();
    this.#step = undefined;
  }
}
