export interface ExportedLine {
  id: number;
  bytes: Uint8Array;
}

const NEWLINE = 0x0a;
/** The longest beginning of a line that has its whole id. */
const HEAD = 32;

/** Reads the lines of an export, which are in the order of their ids, one after the other. */
export class LineCursor {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #lines: ExportedLine[] = [];
  #at = 0;
  #isEnded = false;

  /** Each chunk has complete lines. */
  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** The current line; undefined after the last. */
  async current(): Promise<ExportedLine | undefined> {
    while (this.#at === this.#lines.length && !this.#isEnded) {
      const { done, value } = await this.#chunks.next();
      this.#isEnded = done === true;
      this.#lines = done ? [] : linesOf(value);
      this.#at = 0;
    }
    return this.#lines[this.#at];
  }

  /** Leaves the current line. */
  next(): void {
    this.#at += 1;
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}

function linesOf(chunk: Uint8Array): ExportedLine[] {
  const lines: ExportedLine[] = [];
  for (let start = 0; start < chunk.length; ) {
    const end = chunk.indexOf(NEWLINE, start) + 1 || chunk.length;
    const bytes = chunk.subarray(start, end);
    const [, id] = /^\{"id":(\d+),/.exec(Buffer.from(bytes.subarray(0, HEAD)).toString('latin1')) ?? [];
    if (id === undefined) throw new Error('a line of an export does not begin with its id');
    lines.push({ id: Number(id), bytes });
    start = end;
  }
  return lines;
}
