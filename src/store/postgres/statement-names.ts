/** Statements that are prepared on each connection at most. */
const MAX_NAMES = 200;
/** Texts that are remembered at most. */
const MAX_TEXTS = 1_000;
/** Longer texts are filters of a caller's own. */
const MAX_LENGTH = 4_000;

/**
 * The names under which connections prepare statements. Only a statement that comes again gets a name, because a server
 * keeps prepared statements until their connection ends.
 */
export class StatementNames {
  readonly #names = new Map<string, string>();
  /** Texts that were run once. */
  #once = new Set<string>();
  #generation = 0;

  /** The name of a statement; undefined for one that is not prepared. */
  of(text: string): string | undefined {
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    if (text.length > MAX_LENGTH || this.#names.size === MAX_NAMES) return undefined;
    if (!this.#once.has(text)) {
      if (this.#once.size === MAX_TEXTS) this.#once = new Set();
      this.#once.add(text);
      return undefined;
    }
    this.#once.delete(text);
    const name = `cosift_${this.#generation}_${this.#names.size}`;
    this.#names.set(text, name);
    return name;
  }

  /** Gives other names from now on, because another version of cosift has migrated a table. */
  renew(): void {
    this.#names.clear();
    this.#generation += 1;
  }
}
