import { keysOf, PART_OF_ISSUER, shareOf } from '../../async/caller-path.js';
import { CosiftError } from '../../errors.js';
import { ADMIN } from '../keys/caller.js';

/** Maximum amounts. */
export interface Bounds {
  /** For all keys together. The admin key gets its share even beyond it, so that others cannot shut it out. */
  total: number;
  /** For one key and the keys that were issued through it. */
  perKey: number;
}

/**
 * Limits how much of something is held at a time. More is refused with `busy`.
 *
 * What a key holds counts for the keys through which it was issued, too, so a key gets no larger share by issuing keys.
 */
export class CapacityLimiter {
  readonly #what: string;
  readonly #bounds: Bounds;
  readonly #inherited: number;
  /** What each key holds, with what the keys hold that were issued through it; by paths of keys. */
  readonly #byPath = new Map<string, number>();
  #held = 0;

  /** `inherited` is the part of the share of a key that each key which it issued may use. */
  constructor(what: string, bounds: Bounds, inherited = PART_OF_ISSUER) {
    this.#what = what;
    this.#bounds = bounds;
    this.#inherited = inherited;
  }

  get held(): number {
    return this.#held;
  }

  /**
   * Checks that `amount` can be taken for the last key of `path` now. A key that holds nothing may exceed its share.
   *
   * @throws {CosiftError} `busy` when it cannot.
   */
  check(path: string, amount: number): void {
    const { total, perKey } = this.#bounds;
    for (const key of keysOf(path)) {
      const share = shareOf(key, perKey, this.#inherited);
      const ofKey = this.#byPath.get(key) ?? 0;
      if (ofKey > 0 && ofKey + amount > share) {
        const whose = key === path ? 'this key' : 'a key that issued this one';
        throw busy(`${whose} has reached its limit of ${share} ${this.#what}`);
      }
    }
    if (this.#held + amount > total && path !== ADMIN.path) {
      throw busy(`the limit of ${total} ${this.#what} is reached`);
    }
  }

  /**
   * Takes `amount` for the last key of `path`. The returned function gives it back; calling that function again has no
   * effect.
   *
   * @throws {CosiftError} `busy` when a bound would be exceeded.
   */
  take(path: string, amount = 1): () => void {
    this.check(path, amount);
    return this.add(path, amount);
  }

  /** Like {@link take}, but takes at most the share of the key, for a request of more parts than may be under way. */
  takeParts(path: string, parts: number): () => void {
    return this.take(path, Math.min(parts, shareOf(path, this.#bounds.perKey, this.#inherited)));
  }

  /** Like {@link take}, but may exceed the bounds. */
  add(path: string, amount: number): () => void {
    this.#change(path, amount);
    let held = true;
    return () => {
      if (held) this.#change(path, -amount);
      held = false;
    };
  }

  #change(path: string, amount: number): void {
    this.#held += amount;
    for (const key of keysOf(path)) {
      const ofKey = (this.#byPath.get(key) ?? 0) + amount;
      if (ofKey > 0) this.#byPath.set(key, ofKey);
      else this.#byPath.delete(key);
    }
  }
}

function busy(detail: string): CosiftError {
  return new CosiftError('busy', `${detail}; try again`, { fields: { retry_after: 1 } });
}
