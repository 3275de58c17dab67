const WIDTH = 28;
const REDRAW_MS = 100;

/** Shows progress in one line of a terminal: share, records, rate and remaining time. Prints nothing elsewhere. */
export class ProgressBar {
  readonly #out: NodeJS.WriteStream;
  readonly #started = Date.now();
  #drawn = 0;

  constructor(out: NodeJS.WriteStream = process.stderr) {
    this.#out = out;
  }

  /** Shows that `done` of `total` records are done. `total` is undefined while it is unknown. */
  update(done: number, total: number | undefined): void {
    const now = Date.now();
    if (!this.#out.isTTY || now - this.#drawn < REDRAW_MS) return;
    this.#drawn = now;
    const rate = (done * 1000) / Math.max(1, now - this.#started);
    const facts = [`${count(done)} records`, `${count(Math.round(rate))}/s`];
    if (total === undefined || total === 0) {
      this.#draw(facts.join('  '));
      return;
    }
    const share = Math.min(1, done / total);
    const filled = Math.round(share * WIDTH);
    const bar = `[${'#'.repeat(filled)}${' '.repeat(WIDTH - filled)}]`;
    if (rate > 0) facts.push(`${duration(((total - done) / rate) * 1000)} left`);
    this.#draw(`${bar} ${String(Math.floor(share * 100)).padStart(3)} %  ${facts.join('  ')}`);
  }

  /** Removes the line, so that something else can be printed. */
  clear(): void {
    if (this.#out.isTTY && this.#drawn > 0) this.#out.write('\r\x1b[2K');
    this.#drawn = 0;
  }

  #draw(line: string): void {
    this.#out.write(`\r\x1b[2K${line.slice(0, (this.#out.columns ?? 80) - 1)}`);
  }
}

export function count(number: number): string {
  return number.toLocaleString('en-US');
}

/** Formats a duration: `0:42`, `12:05`, `1:00:07`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const parts = [Math.floor(seconds / 60) % 60, seconds % 60];
  if (seconds >= 3600) parts.unshift(Math.floor(seconds / 3600));
  return parts.map((part, at) => (at === 0 ? String(part) : String(part).padStart(2, '0'))).join(':');
}
