import { CosiftError } from '../../errors.js';

/** Maximum amounts. */
export interface Bounds {
  /** For all keys together. */
  total: number;
  perKey: number;
}

/** Limits how much of something is held at a time. More is refused with `busy`. */
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
   * Checks that `amount` can be taken for `key` now. A key that holds nothing may exceed its share.
   *
   * @throws {CosiftError} `busy` when it cannot.
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
   * Takes `amount` for `key`. The returned function gives it back; calling that function again has no effect.
   *
   * @throws {CosiftError} `busy` when a bound would be exceeded.
   */
  take(key: string, amount = 1): () => void {
    this.check(key, amount);
    return this.add(key, amount);
  }

  /** Like {@link take}, but may exceed the bounds. */
  add(key: string, amount: number): () => void {
    this.#held += amount;
    this.#byKey.set(key, (this.#byKey.get(key) ?? 0) + amount);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
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
