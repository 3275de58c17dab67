import { createEmbedder, type Embedder } from '../embedding/index.js';
import { CosiftError } from '../errors.js';

/** The models that databases can be made with, each loaded once, when it is first needed. */
export class Models {
  /** The model of a database whose settings name none. */
  static readonly builtIn = 'all-MiniLM-L6-v2';

  readonly #workers: number | undefined;
  #embedder: Promise<Embedder> | undefined;

  constructor(workers?: number) {
    this.#workers = workers;
  }

  has(model: string): boolean {
    return model === Models.builtIn;
  }

  /**
   * The embedder of a model.
   *
   * @throws {CosiftError} `invalid_request` when there is no such model.
   */
  async embedder(model: string): Promise<Embedder> {
    if (!this.has(model)) {
      const detail = `there is no model "${model}"; this service has "${Models.builtIn}"`;
      throw new CosiftError('invalid_request', detail, { problems: [{ pointer: '/model', detail }] });
    }
    this.#embedder ??= createEmbedder({ workers: this.#workers });
    try {
      return await this.#embedder;
    } catch (error) {
      this.#embedder = undefined;
      throw error;
    }
  }

  async close(): Promise<void> {
    await (await this.#embedder)?.close();
  }
}
