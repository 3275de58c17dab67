import { CosiftError } from '../errors.js';

/** Lets a bounded number of calls be under way; one more is refused at once with `busy`. */
export class Gate {
  readonly #name: string;
  readonly #limit: number;
  #inside = 0;

  constructor(name: string, limit: number) {
    this.#name = name;
    this.#limit = limit;
  }

  get inside(): number {
    return this.#inside;
  }

  enter(): void {
    if (this.#inside >= this.#limit) {
      throw new CosiftError('busy', `${this.#limit} ${this.#name} are under way; try again`, {
        fields: { retry_after: 1 },
      });
    }
    this.#inside += 1;
  }

  leave(): void {
    this.#inside -= 1;
  }

  async run<T>(call: () => Promise<T>): Promise<T> {
    this.enter();
    try {
      return await call();
    } finally {
      this.leave();
    }
  }
}
