/**
 * Returns the keys of the rows that messages of `pgoutput` tell of, also those that rows had before; undefined where a message
 * does not say which rows are changed. The parts of a key are the texts of the columns `key`.
 *
 * Format: PostgreSQL documentation, "Logical Replication Message Formats".
 */
export function changedKeys(messages: readonly LogMessage[], key: readonly string[]): string[][] | undefined {
  const relations = new Map<number, readonly string[] | undefined>();
  const keys = new Map<string, string[]>();
  for (const { data, isSeen } of messages) {
    const reader = new MessageReader(data);
    const kind = reader.byte();
    // It comes once, also where the transaction of its first change is not seen yet.
    if (kind === 'R') relations.set(reader.number(4), reader.columns(key));
    if (!isSeen) continue;
    if (kind === 'T') return undefined;
    if (kind !== 'I' && kind !== 'U' && kind !== 'D') continue;
    const columns = relations.get(reader.number(4));
    if (columns === undefined) return undefined;
    while (!reader.isAtEnd) {
      // The old key (K) or the new row (N). A whole old row (O) is only sent by other tables.
      if (reader.byte() === 'O') return undefined;
      const texts = reader.tuple();
      const parts = key.map((name) => texts[columns.indexOf(name)]);
      if (!parts.every((part) => typeof part === 'string')) return undefined;
      keys.set(JSON.stringify(parts), parts);
    }
  }
  return [...keys.values()];
}

export interface LogMessage {
  data: Buffer;
  /** Whether the snapshot sees the transaction. */
  isSeen: boolean;
}

class MessageReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  byte(): string {
    return String.fromCharCode(this.number(1));
  }

  number(bytes: number): number {
    this.#at += bytes;
    return this.#bytes.readUIntBE(this.#at - bytes, bytes);
  }

  /** The names of the columns of a relation, after its number; undefined where old rows are not identified by `key`. */
  columns(key: readonly string[]): string[] | undefined {
    this.#text();
    this.#text();
    const identity = this.byte();
    const inKey: string[] = [];
    const names = Array.from({ length: this.number(2) }, () => {
      const isInKey = this.number(1) === 1;
      const name = this.#text();
      if (isInKey) inKey.push(name);
      this.#at += 8;
      return name;
    });
    const isSame = inKey.length === key.length && key.every((name) => inKey.includes(name));
    return identity === 'd' && isSame ? names : undefined;
  }

  /** The texts of a row; null where a value is NULL or not sent. */
  tuple(): (string | null)[] {
    return Array.from({ length: this.number(2) }, () => {
      if (this.byte() !== 't') return null;
      const length = this.number(4);
      this.#at += length;
      return this.#bytes.toString('utf8', this.#at - length, this.#at);
    });
  }

  /** A text that ends with a zero. */
  #text(): string {
    const end = this.#bytes.indexOf(0, this.#at);
    const text = this.#bytes.toString('utf8', this.#at, end);
    this.#at = end + 1;
    return text;
  }
}
