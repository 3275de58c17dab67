import type { RefusedRow, Round, SourceBatch, SourceRow, SyncSource } from '../../src/sync/source.js';

/** Compares two texts by their bytes in UTF-8. */
const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** A source whose rows a test changes. Its bookmarks are the numbers of the contents that it has delivered. */
export class RowSource implements SyncSource {
  rows: SourceRow[];
  refused: RefusedRow[] = [];
  /** What it tells about its moments. Default: the clock. */
  clock: Date | undefined;
  /** The kinds of its rounds. */
  readonly asked: Round['kind'][] = [];
  /** Runs when the rows of a round are read. */
  duringRound: (() => Promise<void>) | undefined;
  /** Runs when the rows of a round were taken. */
  afterRows: (() => Promise<void>) | undefined;
  readonly #kind: Round['kind'];
  readonly #delivered: Map<string, string>[] = [];

  constructor(rows: SourceRow[], kind: Round['kind'] = 'complete') {
    this.rows = rows;
    this.#kind = kind;
  }

  async shape() {
    return { identity: 'a test', columns: [], key: ['key'], notices: [] };
  }

  async round(bookmark: Readonly<Record<string, unknown>> | null, whole: boolean): Promise<Round | null> {
    const content = this.#content();
    const before = bookmark === null ? undefined : this.#delivered[Number(bookmark.number)];
    const isSame =
      before?.size === content.size && [...content].every(([key, text]) => before.get(key) === text);
    if (!whole && isSame && this.#kind !== 'complete') return null;
    const kind = whole || before === undefined ? 'complete' : this.#kind;
    this.asked.push(kind);
    const changed = (key: string) => kind === 'complete' || before?.get(key) !== content.get(key);
    const batch: SourceBatch = {
      rows: this.rows.filter(({ key }) => changed(key)),
      refused: this.refused.filter(({ key }) => changed(key)),
      gone:
        kind === 'changes'
          ? [...(before as Map<string, string>).keys()].filter((key) => !content.has(key))
          : [],
    };
    const number = this.#delivered.push(content) - 1;
    const during = async () => this.duringRound?.();
    const after = async () => this.afterRows?.();
    return {
      kind,
      readAt: this.clock ?? new Date(),
      total: batch.rows.length,
      batches: (async function* () {
        await during();
        yield batch;
        await after();
      })(),
      ...(kind === 'keys' && {
        keys: (async function* () {
          yield [...content.keys()].sort(byBytes);
        })(),
      }),
      bookmark: () => ({ number }),
      close: async () => undefined,
    };
  }

  /** Takes what the rows are now for delivered. */
  forgetChanges(): void {
    const content = this.#content();
    const last = this.#delivered.at(-1)!;
    // Not equal, so that there is a round.
    last.clear();
    for (const [key, text] of content) last.set(key, text);
    last.set('gone', '');
  }

  async close(): Promise<void> {}

  #content(): Map<string, string> {
    const all = [...this.rows, ...this.refused];
    return new Map(all.map((row) => [row.key, JSON.stringify(row)]));
  }
}
