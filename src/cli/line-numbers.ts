/** Forgotten numbers that are worth moving the others. */
const TO_FORGET = 65_536;

/** Where the lines that were sent are in their file, until the service has told what became of them. */
export class LineNumbers {
  #numbers: number[] = [];
  /** Sent lines before the first of `#numbers`. */
  #forgotten = 0;

  push(number: number): void {
    this.#numbers.push(number);
  }

  /** The line of the file that was sent as the `n`-th one, from 1. */
  of(n: number): number {
    return this.#numbers[n - 1 - this.#forgotten] ?? n;
  }

  /** Forgets the first `n` lines that were sent. */
  forget(n: number): void {
    const count = n - this.#forgotten;
    if (count < TO_FORGET) return;
    this.#numbers = this.#numbers.slice(count);
    this.#forgotten = n;
  }
}
