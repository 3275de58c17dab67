import { CosiftError } from '../../errors.js';

/** How much may be held at once. */
export interface Bounds {
  /** By all callers together. */
  total: number;
  /** By the callers with one key. */
  perKey: number;
}

/** Bounds how much of something is held at once; what would be more is refused with `busy`. */
export class CapacityLimiter {
  readonly #what: string;
  readonly #bounds: Bounds;
  readonly #byKey = new Map<string, number>();
  #held = 0;

  constructor(what: string, bounds: Bounds) {
    this.#what = what;
    this.#bounds = bounds;
  }

  get held(): number {
    return this.#held;
  }

  /**
   * Does nothing where `amount` could be taken for `key` now. Whoever holds nothing may take more than its share.
   *
   * @throws {CosiftError} `busy`
   */
  check(key: string, amount: number): void {
    const { total, perKey } = this.#bounds;
    const ofKey = this.#byKey.get(key) ?? 0;
    if (ofKey > 0 && ofKey + amount > perKey) {
      throw busy(`this key has reached its limit of ${perKey} ${this.#what}`);
    }
    if (this.#held + amount > total) throw busy(`the limit of ${total} ${this.#what} is reached`);
  }

  /**
   * Takes `amount` for `key`; the function that it returns gives it back, and does nothing when it is called again.
   *
   * @throws {CosiftError} `busy`
   */
  take(key: string, amount = 1): () => void {
    this.check(key, amount);
    return this.add(key, amount);
  }

  /** As {@link take}, beyond the bounds if need be. */
  add(key: string, amount: number): () => void {
    this.#held += amount;
    this.#byKey.set(key, (this.#byKey.get(key) ?? 0) + amount);
    let taken = true;
    return () => {
      if (!taken) return;
      taken = false;
      this.#held -= amount;
      const rest = (this.#byKey.get(key) ?? 0) - amount;
      if (rest > 0) this.#byKey.set(key, rest);
      else this.#byKey.delete(key);
    };
  }
}

function busy(detail: string): CosiftError {
  return new CosiftError('busy', `${detail}; try again`, { fields: { retry_after: 1 } });
}
