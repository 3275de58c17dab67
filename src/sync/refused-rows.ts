import type { RefusedRow } from './source.js';

/** Refused rows that are kept with their reasons. The others are only counted. */
export const MAX_REFUSED_ROWS = 1_000;

/** UTF-16 code units of a reason that are kept. */
const MAX_REASON = 200;

/** The rows of a source that could not become records. */
export class RefusedRows {
  readonly #reasons: Map<string, string>;
  #others: number;

  /** `count` is the number of all, of which `rows` are the first. */
  constructor({ count, rows }: { count: number; rows: readonly RefusedRow[] } = { count: 0, rows: [] }) {
    this.#reasons = new Map(rows.map(({ key, reason }) => [key, reason]));
    this.#others = count - this.#reasons.size;
  }

  get count(): number {
    return this.#reasons.size + this.#others;
  }

  /** The number of refused rows that are not in {@link rows}. */
  get others(): number {
    return this.#others;
  }

  get rows(): RefusedRow[] {
    return Array.from(this.#reasons, ([key, reason]) => ({ key, reason }));
  }

  has(key: string): boolean {
    return this.#reasons.has(key);
  }

  /** Adds a row. Of several with one key, the reason of the first is kept. */
  add({ key, reason }: RefusedRow): void {
    if (this.#reasons.has(key) || this.#reasons.size === MAX_REFUSED_ROWS) this.#others += 1;
    else this.#reasons.set(key, reason.slice(0, MAX_REASON).toWellFormed());
  }

  remove(key: string): void {
    this.#reasons.delete(key);
  }
}
