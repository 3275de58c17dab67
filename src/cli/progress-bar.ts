import { count } from '../schema/plain.js';

const WIDTH = 28;
const REDRAW_MS = 100;
const PRINT_MS = 30_000;

/**
 * Shows progress: share, records, rate and remaining time. In a terminal, one line shows it; elsewhere, a line is printed
 * every {@link PRINT_MS}.
 */
export class ProgressBar {
  readonly #out: NodeJS.WriteStream;
  readonly #unit: string;
  #phase = '';
  #started = 0;
  #shown = 0;

  /** `unit` names what is counted. */
  constructor(out: NodeJS.WriteStream = process.stderr, unit = 'records') {
    this.#out = out;
    this.#unit = unit;
  }

  /**
   * Shows that `done` of `total` records are done. `total` is undefined while it is unknown. `phase` says in one word what
   * is done with the records; rate and remaining time are those of the phase.
   */
  update(phase: string, done: number, total: number | undefined): void {
    const now = Date.now();
    if (phase !== this.#phase) {
      this.#phase = phase;
      this.#started = now;
      this.#shown = this.#out.isTTY ? 0 : now;
    }
    if (now - this.#shown < (this.#out.isTTY ? REDRAW_MS : PRINT_MS)) return;
    this.#shown = now;
    const rate = (done * 1000) / Math.max(1, now - this.#started);
    const facts = [`${count(done)} ${this.#unit} ${phase}`, `${count(Math.round(rate))}/s`];
    if (total === undefined || total === 0) {
      this.#show('', facts);
      return;
    }
    const share = Math.min(1, done / total);
    const filled = Math.round(share * WIDTH);
    const bar = `[${'#'.repeat(filled)}${' '.repeat(WIDTH - filled)}]`;
    if (rate > 0) facts.push(`${duration(((total - done) / rate) * 1000)} left`);
    this.#show(bar, [`${String(Math.floor(share * 100)).padStart(3)} %`, ...facts]);
  }

  /** Removes the line, so that something else can be printed. */
  clear(): void {
    if (!this.#out.isTTY) return;
    if (this.#shown > 0) this.#out.write('\r\x1b[2K');
    this.#shown = 0;
  }

  #show(bar: string, facts: readonly string[]): void {
    const line = `${bar} ${facts.join('  ')}`.trimStart();
    if (this.#out.isTTY) this.#out.write(`\r\x1b[2K${line.slice(0, (this.#out.columns || 80) - 1)}`);
    else this.#out.write(`${facts.join(', ').trimStart()}\n`);
  }
}

/** Formats a number of bytes: `340 B`, `1.2 MB`. */
export function bytes(number: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const at = number < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(number) / 3));
  return `${at === 0 ? number : (number / 1000 ** at).toFixed(1)} ${units[at]}`;
}

/** Formats a duration: `0:42`, `12:05`, `1:00:07`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const parts = [Math.floor(seconds / 60) % 60, seconds % 60];
  if (seconds >= 3600) parts.unshift(Math.floor(seconds / 3600));
  return parts.map((part, at) => (at === 0 ? String(part) : String(part).padStart(2, '0'))).join(':');
}

/** A number with its noun, such as `1 record` and `2 records`. */
export function plural(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? '' : 's'}`;
}
