import type { Snapshot } from './connection.js';

/** The numbers of transactions in rows and in the log have the lower 32 bits. */
const BITS = 32;

/** What a snapshot of PostgreSQL sees. */
export class Moment {
  /** As PostgreSQL writes it. */
  readonly text: string;
  /** The oldest transaction that is open: everything before it is seen, unless it was rolled back. */
  readonly horizon: bigint;
  /** The first transaction that has not begun. */
  readonly next: bigint;
  readonly #open: ReadonlySet<bigint>;

  private constructor(text: string) {
    const [horizon = '', next = '', open = ''] = text.split(':');
    this.text = text;
    this.horizon = BigInt(horizon);
    this.next = BigInt(next);
    this.#open = new Set(open.split(',').filter(Boolean).map(BigInt));
  }

  static async of(snapshot: Snapshot): Promise<Moment> {
    const [[text] = []] = await snapshot.rows('SELECT pg_current_snapshot()::text');
    return new Moment(text as string);
  }

  /** Whether it sees a transaction that was committed, of whose number the lower 32 bits are given. */
  sees(xid: string): boolean {
    const transaction = this.next + BigInt.asIntN(BITS, BigInt(xid) - this.next);
    return transaction < this.next && !this.#open.has(transaction);
  }
}

/** The number of a transaction as rows have it. */
export function xidOf(transaction: bigint | string): string {
  return String(BigInt.asUintN(BITS, BigInt(transaction)));
}
