/** Minimum number of entries to remove at once, because each removal copies the others. */
const MIN_REMOVED = 65_536;

/** Maps lines that were sent to lines of the file, until the service has reported on them. */
export class LineNumbers {
  #numbers: number[] = [];
  /** Number of sent lines before the first of `#numbers`. */
  #removed = 0;

  push(number: number): void {
    this.#numbers.push(number);
  }

  /** Returns the line of the file that was sent as line `n`, counted from 1. */
  of(n: number): number {
    return this.#numbers[n - 1 - this.#removed] ?? n;
  }

  /** Removes the first `n` lines that were sent. */
  forget(n: number): void {
    const count = n - this.#removed;
    if (count < MIN_REMOVED) return;
    this.#numbers = this.#numbers.slice(count);
    this.#removed = n;
  }
}
